"""Finds the files that travel with the kit: configs/ and templates/, in a checkout or an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """Return the folder `configs` or `templates`: inside the package in a wheel, beside it in a checkout."""
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
