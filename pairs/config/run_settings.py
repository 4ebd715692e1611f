"""How a workload is executed: engine, plan, transport, speed, faults and the engine's own settings."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pairs.config.settings import as_plain, defaults_of, flags_of, parse_file, parse_flags, parse_record, setting
from pairs.config.values import Kind, Plain, speed, text, time_span, truth, whole
from pairs.core.errors import BadInputError, shown
from pairs.core.secrets import SECRET_FLAG
from pairs.core.units import parse_duration_ms, show_duration


@dataclass(frozen=True, order=True)
class FaultSpec:
    """A fault at a moment of simulated time, written KIND@TIME; the harness defines the kinds."""

    at_ms: int
    kind: str

    @classmethod
    def parse(cls, written: Any) -> Self:
        """Read a fault such as kill@30m; anything else raises ValueError."""
        match = re.fullmatch(r"([a-z-]+)@(.+)", written) if isinstance(written, str) else None
        if match is None:
            raise ValueError
        return cls(parse_duration_ms(match[2]), match[1])

    def __str__(self) -> str:
        return f"{self.kind}@{show_duration(self.at_ms)}"


@dataclass(frozen=True)
class _EngineSettings(Kind):
    """The kind of engine settings: names to plain values, kept as text. The target knows their kinds."""

    def read(self, raw: Any, place: str) -> dict[str, str]:
        if isinstance(raw, Mapping):
            return dict(_flattened(raw, place))
        if not isinstance(raw, list):
            raise BadInputError(f"{place}: {shown(raw)} is not valid; give a table of settings by name")
        read_one = super().read
        given = [read_one(pair, place) for pair in raw]
        for name, times in Counter(name for name, _ in given).items():
            if times > 1:
                raise BadInputError(f"{place}: {name} is given twice; give it once")
        return dict(given)


def _flattened(table: Mapping[str, Any], place: str, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings of a table; TOML reads a dotted name without quotes as tables in tables."""
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            yield from _flattened(value, place, f"{name}.")
        elif isinstance(value, list):
            raise BadInputError(f"{place}: {name}: {shown(value)} is not valid; give a text or a number")
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)


def _name_and_value(raw: Any) -> tuple[str, str]:
    """Read KEY=VALUE; anything else raises ValueError."""
    name, equals, value = raw.partition("=") if isinstance(raw, str) else ("", "", "")
    if not name or not equals:
        raise ValueError
    return name, value


_ENGINE_SETTINGS = _EngineSettings(
    "KEY=VALUE", "a name and a value such as spark.sql.shuffle.partitions=2", _name_and_value
)


_NOT_RECORDED = "not recorded"  # in place of values that may be secrets
_CLIENT_SETTINGS = _EngineSettings(
    "KEY=VALUE",
    "a name and a value such as security.protocol=SASL_SSL",
    _name_and_value,
    lambda settings: dict.fromkeys(settings, _NOT_RECORDED) or None,
)
NOT_VARIED = frozenset({"bootstrap", "kafka"})  # settings whose values may have commas


@dataclass(frozen=True)
class _Faults(Kind):
    """The kind of a list of faults; an error shows the fault that is not valid."""

    def read(self, raw: Any, place: str) -> tuple[FaultSpec, ...]:
        if not isinstance(raw, list):
            raise BadInputError(f'{place}: {shown(raw)} is not valid; give a list such as ["kill@30m"]')
        read_one = super().read
        return tuple(sorted(read_one(fault, place) for fault in raw))


_FAULTS = _Faults(
    "KIND@TIME",
    "a fault and a time above zero such as kill@30m or kill@90s",
    FaultSpec.parse,
    lambda faults: [str(fault) for fault in faults],
)


@dataclass(frozen=True)
class RunSettings:
    """How a workload is executed."""

    target: str = setting(text("NAME"), "--target", "Engine to run.", "pyspark")
    plan: str | None = setting(text("NAME"), "--plan", "How the target lays out its work; default: its first plan.")
    transport: str = setting(text("NAME"), "--transport", "How ticks reach the engine and answers return.", "ticklog")
    bootstrap: str | None = setting(
        text("HOST:PORT[,...]"), "--bootstrap", "Kafka brokers of transport kafka; default: one is started for the run."
    )
    partitions: int | None = setting(
        whole(1, 1_000), "--partitions", "Partitions of each topic of transport kafka; default: 1."
    )
    kafka: dict[str, str] = setting(
        _CLIENT_SETTINGS,
        SECRET_FLAG,
        "A setting of Kafka's clients by librdkafka's name, such as for TLS and SASL; its value is never recorded; "
        "repeatable.",
        {},
    )
    keep_topics: bool = setting(truth(), "--keep-topics", "Do not remove the topics of the run after it.", False)
    jars: str | None = setting(
        text("FOLDER"), "--jars", "Folder with the jars of Spark's Kafka connector; default: those of 'pairs install'."
    )
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
        _FAULTS,
        "--fault",
        "Inject a fault at a simulated time while ticks go on: kill@30m kills the engine and starts it again, "
        "kill-worker@30m kills a worker of its cluster; repeatable.",
        (),
    )
    cores: int | None = setting(
        whole(1, 10_000), "--cores", "Cores that the engine may use, of this machine or of its cluster; default: all."
    )
    settings: dict[str, str] = setting(_ENGINE_SETTINGS, "--set", "An engine setting; repeatable.", {})
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)  # where each was given

    def place(self, name: str) -> str:
        """Return where a setting was given, for error messages: its place in a file, or else its flag."""
        return self.places.get(name) or flags_of(RunSettings)[name]

    def engine_place(self, name: str) -> str:
        """Return where an engine setting was given."""
        return self.places.get(f"settings.{name}") or f"{self.place('settings')} {name}"

    def as_plain(self) -> dict[str, Plain]:
        return as_plain(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], place: str) -> "RunSettings":
        return cls(**defaults_of(cls) | parse_record(values, cls, place).values)


def load_run(run: str, flags: Mapping[str, Any]) -> RunSettings:
    """Read a run file, by shipped name or by path, and override it with flags; of tables, each setting by itself."""
    file, given = parse_file("runs", run, RunSettings), parse_flags(flags, RunSettings)
    merged = file.under(given)
    in_file, by_flag = (source.values.get("settings", {}) for source in (file, given))
    kept = {f"settings.{name}": f"{file.places['settings']} {name}" for name in in_file if name not in by_flag}
    kafka = file.values.get("kafka", {}) | given.values.get("kafka", {})
    values = merged.values | {"settings": {**in_file, **by_flag}, "kafka": kafka}
    return RunSettings(**defaults_of(RunSettings) | values, places=merged.places | kept)
