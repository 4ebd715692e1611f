"""Tests of pairs/core."""
