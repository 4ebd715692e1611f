"""Errors, files, units, progress, and starting Java and Spark. Imports nothing else of the kit."""
