"""The golden datasets as folders, whole or changed, for tests that run something on them."""

import re
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
CALM = GOLDEN / "calm"  # prices stand still now and then, and bands collapse onto the ratio
GOLDEN_TICKS = 26_669


def golden_market(path: Path, ticks: int | None = None, periods_s: tuple[int, ...] = (), source: Path = GOLDEN) -> Path:
    """Make a golden dataset, or the beginning of it, or with other periods; only its ticks and strategies."""
    (path / "ticks").mkdir(parents=True)
    lines = (source / "ticks.csv").read_text().splitlines(keepends=True)
    (path / "ticks" / "ticks.csv").write_text("".join(lines if ticks is None else lines[: ticks + 1]))
    text = (source / "strategies.xml").read_text()
    if periods_s:
        number = iter(range(10_000))
        text = re.sub(
            r'periodLength="\d+"', lambda _: f'periodLength="{periods_s[next(number) % len(periods_s)]}"', text
        )
    if ticks is not None:  # windows of a quarter of a second, so that there are answers to a few ticks
        text = re.sub(r'periodLength="\d+"', 'periodLength="0.25"', re.sub(r'numPeriods="\d+"', 'numPeriods="3"', text))
        text = text.replace('marketClose="900000"', 'marketClose="9000"')
    (path / "strategies.xml").write_text(text)
    return path
