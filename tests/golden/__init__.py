"""The golden datasets with their answers, and the golden programs."""
