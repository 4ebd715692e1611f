"""Finds the files shipped with the kit: configs/ and templates/, which are linked into the package."""

from importlib.resources import files
from pathlib import Path


def folder(name: str) -> Path:
    """Return the folder `configs` or `templates`."""
    return Path(str(files("pairs"))) / name
