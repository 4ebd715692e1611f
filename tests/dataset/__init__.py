"""Tests of pairs/dataset."""
