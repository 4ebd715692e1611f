"""Benchmarks of the kit itself: figures side by side in one run, never part of the tests."""
