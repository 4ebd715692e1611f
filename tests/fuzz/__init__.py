"""Fuzzes what reads files from outside: readers.py lists it, contract.py says what must hold, `make fuzz` runs it."""
