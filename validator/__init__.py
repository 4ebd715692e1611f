"""Computes the expected answers and compares a run's answers with them, by key."""
