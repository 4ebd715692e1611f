"""Tests of pairs/transport."""
