"""validation.json: the verdict of the validator, with all its counts."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from pairs.core.records import Model, Record
from pairs.dataset.expected_manifest import InputDigests
from pairs.model.streams import STREAMS


class InvalidRow(Model):
    """A row that cannot be read as an answer. In CSV the line counts from 1, in Parquet the row does."""

    file: str
    line: int
    problem: str


class StreamCounts(Model):
    """The counts of a stream: validator = correct + missing + wrong, sut = correct + wrong + undue."""

    validator: int
    sut: int
    correct: int
    missing: int
    undue: int
    wrong: int
    duplicates: int  # among the undue answers
    repeated: int = 0  # delivered again after a restart and dropped by the sink; not among the others
    malformed: int = 0
    malformed_examples: tuple[InvalidRow, ...] = ()
    unknown_strategies: dict[str, int] = Field(default_factory=dict)


class FirstError(Model):
    """The first error of a strategy, and how many of its answers are incorrect in all."""

    inputTickTS: int
    strategy: str
    stream: str
    kind: str
    incorrect: int


class ValidationRecord(Record):
    """The content of validation.json, where each stream is a key of its own."""

    FORMAT = 2
    REMEDY = "validate the run again"

    verdict: Literal["PASSED", "FAILED"]
    streams: dict[str, StreamCounts]
    first_errors: tuple[FirstError, ...]
    dataset: str
    digests: InputDigests

    @property
    def passed(self) -> bool:
        """Whether nothing is missing, undue or wrong."""
        return self.verdict == "PASSED"

    def total(self, kind: str, streams: Iterable[str] = STREAMS) -> int:
        """Return a count over all streams."""
        return sum(getattr(self.streams[stream], kind) for stream in streams)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, content: Any) -> Any:
        if not isinstance(content, dict) or "streams" in content:
            return content
        streams = {name: content[name] for name in STREAMS if name in content}
        return {key: value for key, value in content.items() if key not in streams} | {"streams": streams}

    @model_serializer(mode="wrap")
    def _spread(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        streams: dict[str, Any] = content.pop("streams")
        return content | streams
