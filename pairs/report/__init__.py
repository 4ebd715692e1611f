"""The report of a run: a self-contained page that people can mail, print and argue from."""
