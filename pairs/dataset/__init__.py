"""A dataset on disk: its manifest, its folder, its formats, its rules."""
