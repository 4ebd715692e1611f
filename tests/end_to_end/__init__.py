"""Tests of whole commands: real processes, real Spark, real faults."""
