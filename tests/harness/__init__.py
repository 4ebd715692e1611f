"""Tests of the harness: the tick log, the sink, the driver, the runner."""
