"""The stages of the benchmark as functions from files to files that return results; they read virtual ticks, too."""

from pairs.generator import virtual as virtual  # registers the format
