"""Names from data stay names: programs and verdicts do not depend on the names of strategies and symbols."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from pairs.model.strategy import StrategySet
from pairs.model.strategy_xml import read_strategies, write_strategies
from tests.conftest import Command

GOLDEN = Path(__file__).parent.parent / "golden"
SYMBOLS = (
    "a\"'b\n{x}",
    "../../../tmp/x",
    "<script>x",
    "{{ 7*7 }}{% x %}",
    "$(touch owned)",
    "`id`;%n\\",
    "\x1b[31mred",
    "\u202eevil",
    ",;\t|",
    "=1+1",
    "NaN",
    " ",
)
ALIAS = '"""\n../{0}/<script>alert({0})</script>{{{{ {0} }}}}; import os'


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """Make the golden dataset with other names, in a folder with an odd name."""
    folder = tmp_path / 'ma"rk{e}t <b>'
    (folder / "ticks").mkdir(parents=True)
    ticks = pa_csv.read_csv(GOLDEN / "ticks.csv")
    traded = sorted(set(ticks["symbol"].to_pylist()))
    strategies = read_strategies(GOLDEN / "strategies.xml")
    watched = sorted(strategies.symbols)
    names = dict(zip(watched, SYMBOLS, strict=False))
    names = {name: names.get(name, name) for name in {*traded, *watched}}
    renamed = pa.array([names[symbol] for symbol in ticks["symbol"].to_pylist()])
    pq.write_table(ticks.set_column(0, "symbol", renamed), folder / "ticks" / "ticks.parquet")
    hostile = tuple(
        replace(old, alias=ALIAS.format(number), user="<b>", symbol1=names[old.symbol1], symbol2=names[old.symbol2])
        for number, old in enumerate(strategies.strategies)
    )
    write_strategies(folder / "strategies.xml", StrategySet(strategies.market_close_ms, hostile))
    assert read_strategies(folder / "strategies.xml").strategies == hostile
    return folder


def judged(command: Command, market: Path, target: str, plan: str) -> Path:
    """Run and validate; every answer must be right, as many as with the names of the golden dataset."""
    run = market.parent / "run"
    done = command("run", str(market), "-o", str(run), "--speed", "max", "--target", target, "--plan", plan)
    assert (done.returncode, done.stderr) == (0, "")
    done = command("validate", str(run), "--master", "local[2]")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((run / "validation.json").read_text())
    assert (found["indicators"]["correct"], found["orders"]["correct"]) == (1499, 130)
    assert sorted(path.name for path in market.parent.iterdir()) == sorted([market.name, "run"])
    for program in (run / "app").glob("*.py"):
        assert not re.search(r"<script|touch owned|; import os", program.read_text())
    return run


def test_names_have_no_effect_on_a_run(market: Path, pairs_command: Command) -> None:
    """PASSED with the golden counts; listed on the screen without what steers a terminal, and whole in the CSV."""
    run = judged(pairs_command, market, "bare", "vectorized")
    orders = pq.read_table(run / "orders.parquet")
    prices = pa.array([price + 1 for price in orders["price"].to_pylist()], orders.schema.field("price").type)
    pq.write_table(orders.set_column(orders.schema.get_field_index("price"), "price", prices), run / "orders.parquet")
    shown = pairs_command("validate", str(run), "--show", "wrong", "--strategy", ALIAS.format(0))
    assert (shown.returncode, shown.stderr) == (1, "")
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout
    assert {path.name for path in run.iterdir() if path.suffix == ".csv"} == {
        "wrong_orders.csv",
        "wrong_indicators.csv",
    }
    with_newlines = pa_csv.ParseOptions(newlines_in_values=True)
    listed = pa_csv.read_csv(run / "wrong_orders.csv", parse_options=with_newlines)
    assert set(listed["strategy"].to_pylist()) == {ALIAS.format(0)}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("plan", ["vectorized", "keyed", "realtime", "native"])
def test_names_have_no_effect_on_spark(market: Path, plan: str, pairs_command: Command) -> None:
    """The same through Structured Streaming; the aliases are unchanged."""
    run = judged(pairs_command, market, "pyspark", plan)
    assert ALIAS.format(0) in pq.read_table(run / "orders.parquet")["strategy"].to_pylist()
