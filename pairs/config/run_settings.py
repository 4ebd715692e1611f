"""How a workload is executed: engine, plan, transport, speed, faults and the engine's own settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pairs.config.settings import as_plain, defaults_of, parse_file, parse_flags, parse_record, setting
from pairs.config.values import Kind, Plain, speed, text, time_span, whole
from pairs.core.units import parse_duration_ms, show_duration


@dataclass(frozen=True, order=True)
class FaultSpec:
    """A fault at a moment of simulated time, written KIND@TIME; the harness defines the kinds."""

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


def _engine_settings() -> Kind:
    """Accept a table of engine settings: names to plain values, kept as text."""

    def parse(raw: Any) -> dict[str, str]:
        if isinstance(raw, list):  # flags, each KEY=VALUE; unpacking raises ValueError where there is no '='
            raw = dict(pair.split("=", 1) for pair in raw)
        if not isinstance(raw, Mapping) or any(isinstance(value, dict | list) for value in raw.values()):
            raise ValueError
        return {str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in raw.items()}

    return Kind("KEY=VALUE", "settings by name, such as spark.sql.shuffle.partitions=2", parse)


def _faults() -> Kind:
    def parse(raw: Any) -> tuple[FaultSpec, ...]:
        if not isinstance(raw, list | tuple) or not all(isinstance(fault, str) for fault in raw):
            raise ValueError
        return tuple(sorted(map(FaultSpec.parse, raw)))

    wanted = "a fault and a time such as kill@30m or kill@90s"
    return Kind("KIND@TIME", wanted, parse, lambda faults: [str(fault) for fault in faults])


@dataclass(frozen=True)
class RunSettings:
    """How a workload is executed."""

    target: str = setting(text("NAME"), "--target", "Engine to run.", "pyspark")
    plan: str | None = setting(text("NAME"), "--plan", "How the target lays out its work; default: its first plan.")
    transport: str = setting(text("NAME"), "--transport", "How ticks reach the engine and answers return.", "ticklog")
    speed: float | str | None = setting(
        speed(), "--speed", "Simulated seconds per wall second, or max for unpaced; default: as the profile recommends."
    )
    drivers: int = setting(whole(1, 16), "--drivers", "Processes that send the ticks.", 1)
    stall_timeout: int = setting(
        time_span(), "--stall-timeout", "End the run as failed if the engine consumes no tick for so long.", 60_000
    )
    max_behind: int = setting(
        time_span(), "--max-behind", "End the run as overloaded if the engine is so far behind the driver.", 120_000
    )
    faults: tuple[FaultSpec, ...] = setting(
        _faults(),
        "--fault",
        "Inject a fault at a simulated time while ticks go on, such as kill@30m: kill the engine, start it again; "
        "repeatable.",
        (),
    )
    settings: dict[str, str] = setting(_engine_settings(), "--set", "An engine setting; repeatable.", {})

    def as_plain(self) -> dict[str, Plain]:
        return as_plain(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], place: str) -> "RunSettings":
        return cls(**defaults_of(cls) | parse_record(values, cls, place).values)


def load_run(run: str, flags: Mapping[str, Any]) -> RunSettings:
    """Read a run file, by shipped name or by path, and override it with flags."""
    sourced = parse_file("runs", run, RunSettings).under(parse_flags(flags, RunSettings))
    return RunSettings(**defaults_of(RunSettings) | sourced.values)
