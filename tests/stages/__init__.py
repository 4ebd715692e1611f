"""Tests of pairs/stages."""
