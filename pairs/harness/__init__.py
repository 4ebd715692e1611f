"""The harness: plays ticks to an engine and records its answers. Knows targets and transports by their interfaces."""
