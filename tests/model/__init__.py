"""Tests of pairs/model."""
