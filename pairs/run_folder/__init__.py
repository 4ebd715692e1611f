"""A run on disk: its folder, and one typed model for each JSON file in it."""
