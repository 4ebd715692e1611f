"""The report of a run: one self-contained page that people can mail, print and argue from."""
