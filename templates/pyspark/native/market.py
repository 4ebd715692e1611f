"""The strategies as tables that the stream is joined with, small enough to be at hand in every task.

Symbols and pairs go by numbers, pairs in the order in which the Java part has them: as they first come.
"""

import csv
import io

import pyarrow as pa

CLOCK = -1  # the route of a tick that shows the time: to all pairs
WATCHES = pa.list_(pa.struct([("route", pa.int32()), ("leg", pa.int32()), ("periodMs", pa.int64())]))


class Market:
    """The tables of a set of strategies."""

    def __init__(self, spark, strategies, market_close_ms):
        rows = list(csv.DictReader(io.StringIO(strategies)))
        for row in rows:
            row["periodMs"] = int(row["periodMs"])
        pairs = {}  # each with its periods
        for row in rows:
            pairs.setdefault((row["symbol1"], row["symbol2"]), set()).add(row["periodMs"])
        numbers = {symbol: number for number, symbol in enumerate(sorted({leg for pair in pairs for leg in pair}))}
        periods = sorted({row["periodMs"] for row in rows})
        self.longest_period = periods[-1]
        # A window of 10 s begins where one of 5 s does: the shortest suffice to tell where panes begin.
        self.pane_periods = [period for period in periods if all(period % other for other in periods if other < period)]
        self.most_periods = max(int(row["numPeriods"]) for row in rows)
        self.of_java = spark._jvm.pairs.Market.of(strategies, market_close_ms)
        self.symbols = spark.createDataFrame(_symbols(pairs, numbers))
        self.routes = spark.createDataFrame(_routes(pairs, numbers))
        self.strategies = spark.createDataFrame(_strategies(rows, list(pairs)))


def _symbols(pairs, numbers):
    """Return each symbol with its number and where its ticks count: in windows of which pairs, as which leg."""
    watches = {symbol: [] for symbol in numbers}
    for pair, (legs, periods) in enumerate(pairs.items()):
        for leg, symbol in enumerate(legs, 1):
            watches[symbol] += [{"route": pair, "leg": leg, "periodMs": period} for period in sorted(periods)]
    columns = list(numbers), pa.array(numbers.values(), pa.int32()), pa.array(watches.values(), WATCHES)
    return pa.table(dict(zip(("symbol", "number", "watches"), columns, strict=True)))


def _routes(pairs, numbers):
    """Return to which pairs a route leads: to the pair itself, or, if it is the clock's, to all."""
    rows = [(pair, numbers[one], numbers[two]) for pair, (one, two) in enumerate(pairs)]
    rows = [(pair, pair, *legs) for pair, *legs in rows] + [(CLOCK, pair, *legs) for pair, *legs in rows]
    columns = [pa.array(column, pa.int32()) for column in zip(*rows, strict=True)]
    return pa.table(columns, ["route", "pair", "number1", "number2"])


def _strategies(rows, pairs):
    """Return the strategies by pair and period."""
    of_pair = {legs: pair for pair, legs in enumerate(pairs)}
    kinds = {"numPeriods": (int, pa.int32()), "fundsCents": (int, pa.int64()), "periodMs": (int, pa.int64())}
    kinds |= dict.fromkeys(("bandsMultiplier", "stopLoss"), (float, pa.float64()))
    columns = {"pair": pa.array([of_pair[row["symbol1"], row["symbol2"]] for row in rows], pa.int32())}
    columns["strategy"] = pa.array([row["alias"] for row in rows], pa.string())
    for name in ("symbol1", "symbol2", *kinds):
        read, kind = kinds.get(name, (str, pa.string()))
        columns[name] = pa.array([read(row[name]) for row in rows], kind)
    return pa.table(columns)
