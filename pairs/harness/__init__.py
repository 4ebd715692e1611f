"""The harness: plays ticks to an engine and takes its answers. Knows targets only through their interface."""
