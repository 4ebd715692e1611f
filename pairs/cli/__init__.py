"""The command line: a module a verb."""
