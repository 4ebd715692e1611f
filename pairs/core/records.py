"""The JSON files of the kit: one typed, versioned model each, which is its only reader and writer."""

import json
import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pairs import __version__
from pairs.core.errors import BadInputError, shown
from pairs.core.files import write_text

LARGEST = 2**53  # whole numbers up to here are exact in a double

Count = Annotated[int, Field(ge=0, le=LARGEST)]  # of things, or of time since a beginning
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]


def _finite(written: str) -> float:
    """Read a number; refuse NaN and infinity, which no record holds."""
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a finite number")
    return value


class Model(BaseModel):
    """A frozen part of a record; a key that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class Record(Model):
    """A JSON file. Subclasses set FORMAT, the version of the file, and REMEDY, the advice for an invalid file."""

    FORMAT: ClassVar[int]
    REMEDY: ClassVar[str]

    format_version: int = 0
    kit_version: str = __version__

    def model_post_init(self, context: Any, /) -> None:
        if not self.format_version:
            object.__setattr__(self, "format_version", self.FORMAT)

    def to_json(self, indent: int | None = 2) -> str:
        return self.model_dump_json(indent=indent) + "\n"

    def write(self, file: Path, indent: int | None = 2) -> None:
        write_text(file, self.to_json(indent))

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a record; a missing file raises FileNotFoundError, any other problem BadInputError."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"), parse_float=_finite, parse_constant=_finite)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise BadInputError(f"{file}: cannot be read: {error}; {cls.REMEDY}") from None
        stamps = content if isinstance(content, dict) else {}
        version, kit = stamps.get("format_version"), stamps.get("kit_version", "unknown")
        if version != cls.FORMAT:
            found = "no format version" if version is None else f"format version {shown(version)}, not {cls.FORMAT}"
            versions = f"{found}: kit {kit} wrote it, this is kit {__version__}"
            raise BadInputError(f"{file}: has {versions}; {cls.REMEDY}")
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadInputError(f"{file}: {place}: {first['msg']}; {cls.REMEDY}") from None
