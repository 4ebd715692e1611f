"""Tests of the package pairs."""
