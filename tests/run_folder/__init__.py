"""Tests of pairs/run_folder."""
