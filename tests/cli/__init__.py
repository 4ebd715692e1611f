"""Tests of pairs/cli."""
