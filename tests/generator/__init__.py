"""Tests of the package generator."""
