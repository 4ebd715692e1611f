"""Parses flags that are not settings."""

from pairs.config.values import choice, whole
from pairs.dataset.folder import MOST_FILES
from pairs.dataset.formats import FORMATS, VIRTUAL


def parse_whole(raw: str, flag: str, low: int, high: int) -> int:
    """Read a whole number."""
    return int(whole(low, high).read(raw, flag))


def parse_files(raw: str | None) -> int | None:
    """Read --files."""
    return None if raw is None else parse_whole(raw, "--files", 1, MOST_FILES)


def parse_format(raw: str) -> str:
    """Read --format."""
    return str(choice(*dict.fromkeys((*FORMATS, VIRTUAL))).read(raw, "--format"))
