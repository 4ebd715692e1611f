"""The stages of the benchmark as functions from files to files that return results."""
