"""Tests of the harness: drivers, sink, supervisor, faults, resources, throughput."""
