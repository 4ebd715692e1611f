"""A fault in a configuration: its kind and its time. The harness defines the kinds."""

import re
from dataclasses import dataclass
from typing import Self

from pairs.core.units import parse_duration_ms, show_duration


@dataclass(frozen=True, order=True)
class FaultSpec:
    """A fault at a moment of simulated time, written KIND@TIME."""

    at_ms: int
    kind: str

    @classmethod
    def parse(cls, written: str) -> Self:
        """Read a fault such as kill@30m; anything else raises ValueError."""
        match = re.fullmatch(r"([a-z-]+)@(.+)", written)
        if match is None:
            raise ValueError
        return cls(parse_duration_ms(match[2]), match[1])

    def __str__(self) -> str:
        return f"{self.kind}@{show_duration(self.at_ms)}"
