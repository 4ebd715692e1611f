"""The formats of tick files, by suffix. The generator registers VIRTUAL, which stores no ticks."""

from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.dataset.formats.base import TickFormat
from pairs.dataset.formats.csv import Csv
from pairs.dataset.formats.parquet import Parquet

VIRTUAL = "virtual"
FORMATS: dict[str, TickFormat] = {"parquet": Parquet(), "csv": Csv()}


def register(tick_format: TickFormat) -> None:
    """Add a format."""
    FORMATS[tick_format.suffix] = tick_format


def format_of(path: Path) -> TickFormat:
    """Return the format of a tick file."""
    try:
        return FORMATS[path.suffix.lstrip(".")]
    except KeyError:
        raise BadInputError(f"{path}: not a tick file; give one of {', '.join(FORMATS)}") from None
