"""The JSON files of a dataset, one typed model each, and how they describe a generated and an imported market."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

from pydantic import Field

from pairs.config.profile import Profile
from pairs.config.values import FASTEST, SLOWEST, Plain
from pairs.config.workload import Workload
from pairs.core.records import Count, Model, Positive, Record
from pairs.core.units import show_duration

_IMPORTED = "imported"
_LOWEST_RATE = Fraction(1, 10**6)  # of a workload


class TickFileEntry(Model):
    """A tick file of the dataset."""

    name: str
    ticks: Count
    bytes: Count


class Counts(Model):
    """The size of a dataset."""

    ticks: Count
    markets: Count
    symbols: Count
    correlations: Count
    users: Count
    strategies: Count


class DatasetManifest(Record):
    """The content of dataset.json. It contains no time or path, so equal datasets have equal manifests."""

    FORMAT = 2
    REMEDY = "generate or import the dataset again"

    digest: str
    correlations_digest: str
    profile: str
    recommended_speed: float = Field(ge=SLOWEST, le=FASTEST)
    standard: bool
    nonstandard: tuple[str, ...]
    parameters: dict[str, Plain]
    counts: Counts
    basis_rate_per_second: float
    duration_ms: Positive
    measurement_interval_ms: tuple[Count, Count]
    format: str
    files: tuple[TickFileEntry, ...]
    first_trade_ns: int | None = None  # of imported trades
    trades_by_symbol: dict[str, Count] | None = None  # of imported trades, whose symbols do not trade equally often

    @cached_property
    def workload(self) -> Workload:
        """The parameters of the market; of an imported market as far as they are known."""
        return Workload.from_plain(self.parameters, "dataset.json")

    @property
    def as_profile(self) -> Profile:
        """The profile from which the dataset can be generated again, if it is not imported."""
        return Profile(self.profile, self.workload, self.recommended_speed)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


class InputDigests(Model):
    """Digests of the replayed ticks and strategies."""

    ticks: str
    strategies: str


class FileStamp(Model):
    """Size and times of a file. Any change of the file changes at least one of them."""

    size: int
    mtime_ns: int
    ctime_ns: int


class ExpectedManifest(Record):
    """The content of expected/expected.json: the inputs from which the expected answers were computed."""

    FORMAT = 3  # raised by any change of the computation
    REMEDY = "compute the expected answers again"

    digests: InputDigests
    ticks: Count
    strategies: Count
    answers: dict[str, Count]  # by stream
    knife_edges: dict[str, Count]  # decisions by strategy that rounding may decide, of strategies that have any
    files: dict[str, FileStamp]  # inputs and outputs


class Content(Model):
    """The written files, generated or imported."""

    format: str
    digest: str
    correlations_digest: str
    files: tuple[TickFileEntry, ...]

    @property
    def ticks(self) -> int:
        return sum(file.ticks for file in self.files)


def describe_generated(profile: Profile, content: Content) -> DatasetManifest:
    workload = profile.workload
    return DatasetManifest(
        **dict(content),
        profile=profile.name,
        recommended_speed=profile.speed,
        standard=not workload.nonstandard,
        nonstandard=tuple(workload.nonstandard),
        parameters=workload.as_plain(),
        counts=Counts(
            ticks=content.ticks,
            markets=workload.markets,
            symbols=workload.symbols,
            correlations=workload.correlations,
            users=workload.users,
            strategies=workload.strategies,
        ),
        basis_rate_per_second=float(workload.basis_rate),
        duration_ms=workload.duration,
        measurement_interval_ms=workload.measurement_interval,
    )


def describe_imported(
    duration_ms: int, pairs: int, first_trade_ns: int, trades_by_symbol: Mapping[str, int], content: Content
) -> DatasetManifest:
    """Describe a market of real trades, with the parameters of a workload as far as they are known."""
    rate = max(round(Fraction(1_000 * content.ticks, duration_ms), 6), _LOWEST_RATE)
    parameters: dict[str, Plain] = {
        "scale_factor": 1,
        "seed": 1,  # of the strategies, unless they are generated with another
        "duration": show_duration(duration_ms),
        "basis_rate": float(rate),
        "volatility": 0,  # unknown and not needed, as nothing is drawn
        "strategies": pairs,
    }
    described = describe_generated(Profile(_IMPORTED, Workload.from_plain(parameters, _IMPORTED)), content)
    known = {
        "standard": False,
        "nonstandard": (_IMPORTED,),
        "parameters": parameters,
        "counts": described.counts.model_copy(update={"symbols": len(trades_by_symbol), "correlations": pairs}),
        "first_trade_ns": first_trade_ns,
        "trades_by_symbol": dict(sorted(trades_by_symbol.items())),
    }
    return described.model_copy(update=known)
