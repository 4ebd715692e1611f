"""Kafka as a transport: a record a tick and a record an answer, on any broker, or on one started for the run."""
