"""The contract: tuples, streams, strategies and scaling rules."""
