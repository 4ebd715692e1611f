"""Tests of the package validator."""
