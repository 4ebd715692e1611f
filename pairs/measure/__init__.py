"""Numbers from what a run recorded: latency, send delay, stability, recovery, score."""
