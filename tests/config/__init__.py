"""Tests of pairs/config."""
