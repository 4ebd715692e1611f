"""A dataset on disk: its manifest, its folder, its formats and its rules."""
