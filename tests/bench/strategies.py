"""`make bench-strategies`: how long the strategies of SF 1000 take to generate, write and read."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pairs.config.workload import complete
from pairs.dataset.folder import Correlation
from pairs.generator.market import Market
from pairs.generator.query_generator import generate_strategies
from pairs.model.strategy_xml import read_strategies, write_strategies

Result = TypeVar("Result")


def timed(what: str, work: Callable[[], Result]) -> Result:
    """Run something and print how long it took."""
    started = time.perf_counter()
    result = work()
    print(f"{what:10} {time.perf_counter() - started:.2f} s")
    return result


def main() -> None:
    """Measure once each way."""
    workload = complete({"scale_factor": 1_000})
    market = Market(workload)
    pairs = [
        Correlation(market_number + 1, market.symbols[leg1], market.symbols[leg2])
        for market_number, leg1, leg2 in market.pairs.tolist()
    ]
    print(f"{workload.strategies:,} strategies")
    made = timed("generate", lambda: generate_strategies(pairs, workload.strategies, 1, workload.duration))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "strategies.xml"
        timed("write", lambda: write_strategies(file, made))
        timed("read", lambda: read_strategies(file))


if __name__ == "__main__":
    main()
