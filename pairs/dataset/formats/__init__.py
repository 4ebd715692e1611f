"""The formats of tick files, by suffix. The generator adds VIRTUAL, which stores no ticks."""

from pairs.dataset.formats.base import TickFormat
from pairs.dataset.formats.csv import Csv
from pairs.dataset.formats.parquet import Parquet

VIRTUAL = "virtual"
FORMATS: dict[str, TickFormat] = {"parquet": Parquet(), "csv": Csv()}
