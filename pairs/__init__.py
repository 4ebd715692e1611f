"""Pairs: a benchmark kit for stream processing engines that checks every answer."""

__version__ = "0.1.0"
