"""The published results of the benchmark: two engines, kept anonymous, on eight cores."""

from dataclasses import dataclass

MACHINE = "two quad-core Xeon E5420, eight cores, 16 GB"


@dataclass(frozen=True)
class Published:
    """A published result."""

    engine: str
    scale_factor: int
    p99_ms: float
    p_score: float


RESULTS = (
    Published("X", 1, 63, 47.62),
    Published("X", 2, 175, 34.29),
    Published("X", 3, 203, 44.33),
    Published("X", 4, 351, 34.19),
    Published("X", 5, 91_862, 0.16),
    Published("Y", 1, 22, 136.36),
    Published("Y", 2, 24, 250.00),
)
