"""Translates the neutral strategy set into a program for a target engine."""
