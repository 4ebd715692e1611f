"""Tests of the translator and of the programs it renders."""
