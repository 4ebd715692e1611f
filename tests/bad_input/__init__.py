"""One test for each wrong input, with its message."""
