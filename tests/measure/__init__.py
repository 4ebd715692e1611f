"""Tests of pairs/measure."""
