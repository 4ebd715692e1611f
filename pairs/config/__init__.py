"""Typed profiles and run settings: TOML and flags in, one resolved configuration out."""
