"""The report of a run: everything in one file, right numbers, and never an error because something is missing."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairs.cli import app as cli
from pairs.measure.findings import findings
from pairs.measure.latency_groups import latency_groups
from pairs.measure.latency_parts import BATCH, SENDING, WAITING, WAY
from pairs.measure.recordings import read_run
from pairs.model.streams import ORDERS
from pairs.report import groups
from pairs.report.making import make_report
from pairs.report.single import report_of
from pairs.run_folder.folder import Run
from pairs.run_folder.records import FirstError, InjectedFault, WrongColumn
from tests.report.pages import NASTY, decoded, payload_of, rename_everything, restored, text_of, unpack
from tests.report.runs import (
    ENVIRONMENT,
    START_US,
    change_manifest,
    change_score,
    change_settings,
    golden_answers,
    golden_run,
    judge,
    make_valid,
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Make a small run."""
    return golden_run(tmp_path)


def test_nothing_is_loaded_from_anywhere(run: Run) -> None:
    """No source, link or style sheet of another file, and the browser is told to allow none."""
    page = report_of(read_run(run))
    head = re.sub(r"<script\b.*?</script>", "", page, flags=re.S)
    assert not re.search(r"\b(src|href)\s*=\s*[\"'](?!#)", head)
    assert "url(" not in head
    assert "@import" not in head
    assert "default-src 'none'" in head


def test_the_verdict_of_a_run_that_passed(run: Run) -> None:
    """Score, percentile and every sentence that goes with them; published engines only beside a standard run."""
    make_valid(run)
    score = json.loads(run.score_file.read_text())
    said = text_of(report_of(read_run(run)))
    assert score["valid"]
    assert f"{score['p_score']:,.2f}" in said
    assert f"{score['p99'] * 1000:.1f} ms" in said
    assert "PASSED" in said
    assert "all are correct" in said
    assert (
        "Not a standard run, because of the length of the trading day, the basis rate, the number of symbols," in said
    )
    assert "The score counts" in said
    assert "Plan vectorized is of class block" in said
    assert f"{score['orders']} of {score['triggers']} triggers" in said
    assert "engine Y 2 24 ms 250.00" not in said
    change_score(run, standard=True)
    assert "engine Y 2 24 ms 250.00" in text_of(report_of(read_run(run)))


def test_trust_and_validity_say_the_same(run: Run) -> None:
    """A void score is red in both places, with the same reasons; nothing is red beside a score that counts."""
    score = json.loads(run.score_file.read_text())
    found = findings(read_run(run), read_run(run).score)
    assert [finding.level for finding in found].count("bad") == 1
    assert all(reason in found[0].sentence for reason in score["reasons"])
    make_valid(run)
    assert "bad" not in {finding.level for finding in findings(read_run(run), read_run(run).score)}


def test_warnings_stand_beside_the_score(run: Run) -> None:
    """A score that counts, but is to be taken with care, says so at the top."""
    make_valid(run)
    change_score(run, warnings=("The machine was busy.",))
    said = text_of(report_of(read_run(run)))
    assert "valid, 1 warning" in said
    assert "Warning: The machine was busy." in said


def test_phases_are_marked_and_tabulated(run: Run) -> None:
    """Charts have the phases and, apart from them, the measurement interval; a table has the figures of each phase."""
    page = report_of(read_run(run))
    marks = payload_of(page)["marks"]
    assert marks["interval"] == {"begin": 2_500.0, "end": 7_500.0}
    assert marks["phases"][2] == {"name": "measurement", **marks["interval"]}
    assert "By phase" in text_of(page)
    assert "measurement 3m45s 11m15s 9,375 " in text_of(page)
    change_manifest(run, phases_ms={"<script>": 0, "measurement": 60_000})
    page = report_of(read_run(run))
    assert "<td>&lt;script&gt;</td>" in page
    assert payload_of(page)["marks"]["interval"] == marks["interval"]


def test_a_run_whose_engine_was_killed(run: Run) -> None:
    """When that was is in every chart over time; how it recovered, and how late the answers came, is said."""
    change_manifest(run, faults=(InjectedFault(kind="kill", at_us=START_US + 4_000_000),))
    judge(run)
    page = report_of(read_run(run))
    assert payload_of(page)["marks"]["faults"] == [{"kind": "kill", "at": 4_000.0}]
    said = text_of(page)
    assert "After 1 fault its recovery was of the class precise: nothing missing, nothing twice." in said
    recovery = json.loads(run.score_file.read_text())["recovery"]
    late = recovery["latency_s"]["orders"]
    assert f"{late['count']:,} orders due meanwhile came late" in said
    rows = pq.read_table(run.answers_file("orders"))
    due_s = (rows["inputTS"].to_numpy() - START_US) / 1e6
    assert late["count"] == ((due_s >= 4) & (due_s < 4 + recovery["times_s"][0])).sum()


def test_what_the_sink_dropped_is_disclosed(run: Run) -> None:
    """Answers that came again after a restart are counted, and make the recovery a rollback."""
    change_manifest(run, faults=(InjectedFault(kind="kill", at_us=START_US + 4_000_000),))
    judge(run, repeated={"orders": 1_234})
    said = text_of(report_of(read_run(run)))
    assert "repeated answers: given again after a restart, dropped by the sink 0 1,234" in said
    assert "rollback: of the answers 1,234 came twice, of which the sink dropped 1,234" in said
    assert "PASSED" in said


def test_how_to_repeat_a_run(run: Run) -> None:
    """The engine's versions and the settings that were in effect in it are there, set or not."""
    said = text_of(report_of(read_run(run)))
    assert "version of pyspark 4.3" in said
    assert "spark.example 7" in said
    assert "pairs run market --target bare" in said


def test_every_chart_has_data(run: Run) -> None:
    """Of a run that recorded everything, no chart is left out."""
    charts = payload_of(report_of(read_run(run)))["charts"]
    assert len(charts) == 18
    assert not [name for name, data in charts.items() if "absent" in data]


def test_the_worst_latency_is_in_every_chart(run: Run) -> None:
    """Over time, as a dot, and at the end of the curve."""
    recorded = read_run(run)
    charts = payload_of(report_of(recorded))["charts"]
    timed = recorded.timed(ORDERS)
    assert timed is not None
    worst = timed.latency_s.max() * 1000
    assert decoded(charts["latency-orders"]["max"]).max() == pytest.approx(worst)
    assert decoded(charts["latency-orders"]["dots"]["y"]).max() == pytest.approx(worst)
    measured = recorded.measured(ORDERS).latency_s.max() * 1000
    assert decoded(charts["percentiles"]["streams"]["orders"]["y"])[-1] == pytest.approx(measured)


def test_strategies_are_all_there(run: Run) -> None:
    """Indicators of every strategy within a step of their range, orders exactly."""
    view = payload_of(report_of(read_run(run)))["strategies"]
    names = [strategy[0] for strategy in view["strategies"]]
    starts = unpack(view["indicators"]["starts"]).astype(np.int64)
    ratio = {name: unpack(value) for name, value in view["indicators"]["ratio"].items()}
    found = restored(ratio["steps"], ratio["low"], ratio["high"], starts)
    expected = golden_answers("indicators").to_pandas()
    for place, name in enumerate(names):
        own = expected[expected["strategy"] == name].sort_values("inputTickTS")["ratio"].to_numpy()
        values = found[starts[place] : starts[place + 1]]
        assert values == pytest.approx(own, abs=(own.max() - own.min()) / 65_534 if len(own) else 0)
    orders = view["orders"]
    total = sum(
        int(price) * int(size) for price, size in zip(unpack(orders["price"]), unpack(orders["size"]), strict=True)
    )
    golden = golden_answers("orders").to_pandas()
    assert total == int((golden["price"] * golden["size"]).sum())


MISSING = [
    "score.json",
    "validation.json",
    "indicators.parquet",
    "orders.parquet",
    "resources.parquet",
    "machine.parquet",
    "throughput.parquet",
    "progress.jsonl",
    "driver-0.json",
    "driver-0.parquet",
]


@pytest.mark.parametrize("name", [*MISSING, "all of them", "the dataset"])
def test_what_is_missing_is_said_to_be(run: Run, name: str) -> None:
    """A report is made all the same; a chart without data says why, and no number appears in its place."""
    if name == "the dataset":
        shutil.rmtree(run.dataset().path)
    for file in MISSING if name == "all of them" else [name] if name in MISSING else []:
        (run.path / file).unlink()
    page = report_of(read_run(run))
    charts = payload_of(page)["charts"]
    assert all(data["absent"].endswith(".") for data in charts.values() if "absent" in data)
    if name == "all of them":
        assert set(charts) == {name for name, data in charts.items() if "absent" in data}
        assert "NOT VALIDATED" in text_of(page)
        assert "NOT SCORED" in text_of(page)
    if name == "the dataset":
        assert "The dataset is no longer there, so there are no prices." in text_of(page)


def test_an_unpaced_run(run: Run) -> None:
    """No latency, and the reason for it."""
    change_manifest(run, start_us=None)
    change_settings(run, speed="max")
    judge(run)
    page = report_of(read_run(run))
    said = text_of(page)
    assert "The score is void: the run was unpaced." in said
    assert "unpaced" in payload_of(page)["charts"]["latency-orders"]["absent"]


def test_a_run_that_failed(run: Run) -> None:
    """The reason comes first."""
    for file in ("score.json", "validation.json", "orders.parquet", "indicators.parquet"):
        (run.path / file).unlink()
    change_manifest(run, state="failed", reason="the engine ended with exit code 1", start_us=None)
    said = text_of(report_of(read_run(run)))
    assert "The run did not come to its end" in said
    assert "unpaced" not in said
    assert "RUN FAILED" in said
    assert "The run failed: the engine ended with exit code 1." in said


def test_incorrect_answers_side_by_side(run: Run) -> None:
    """A wrong price, a missing and an undue order are listed with both sides, and where strategies went wrong."""
    orders = pq.read_table(run.answers_file("orders"))
    price = orders["price"].to_numpy().copy()
    price[3] += 7
    orders = orders.set_column(orders.schema.get_field_index("price"), "price", pa.array(price))
    altered = pa.concat_tables([orders.slice(0, 10), orders.slice(11), orders.slice(20, 1)])
    pq.write_table(altered, run.answers_file("orders"))
    judge(run)
    page = report_of(read_run(run))
    found = payload_of(page)["incorrect"]
    listed = {(answers["stream"], answers["kind"]): answers for answers in found["lists"]}
    assert {key: answers["total"] for key, answers in listed.items()} == {
        ("orders", "missing"): 1,
        ("orders", "undue"): 1,
        ("orders", "wrong"): 1,
    }
    wrong = listed["orders", "wrong"]
    row = dict(zip(wrong["columns"], wrong["rows"][0], strict=True))
    assert row["sut_price"] - row["val_price"] == 7
    assert len(found["firstErrors"]) >= 1
    assert "Validation failed: of both streams together, 1 missing, 1 undue, 1 wrong answers." in text_of(page)


def test_a_column_of_another_type_is_named(run: Run) -> None:
    """In the words of the validation, before what follows from it."""
    wrong = WrongColumn(
        file="out/orders.csv", column="price", found="text", expected="whole numbers", first="price is 'x'"
    )
    orders = run.validation.streams["orders"].model_copy(update={"wrong_columns": (wrong,), "malformed": 130})
    streams = run.validation.streams | {"orders": orders}
    run.validation.model_copy(update={"verdict": "FAILED", "streams": streams}).write(run.validation_file)
    said = text_of(report_of(read_run(run)))
    sentence = "out/orders.csv: column price has text throughout, where whole numbers are expected; the first: price is"
    assert 0 < said.index(sentence) < said.index("130 invalid rows of orders, counted as undue.")


def test_knife_edges_are_named(run: Run) -> None:
    """How many decisions rounding may decide; of a validation that failed, which strategies are concerned."""
    remark = "12 decisions lie within 1e-9 of a band or a stop, where an engine that sums in another order"
    assert "of a band or a stop" not in text_of(report_of(read_run(run)))
    run.validation.model_copy(update={"knife_edges": 12}).write(run.validation_file)
    said = text_of(report_of(read_run(run)))
    assert f"{remark} may decide otherwise." in said
    assert "such decisions" not in said
    touched = (NASTY[0], *(f"s{number}" for number in range(11)))
    failed = {"verdict": "FAILED", "knife_edges": 12, "knife_edge_strategies": touched}
    run.validation.model_copy(update=failed).write(run.validation_file)
    said = text_of(report_of(read_run(run)))
    assert f"12 strategies with incorrect answers have such decisions: {NASTY[0]}, s0, s1, s2" in said
    assert "s7, s8 and 2 more." in said


def test_incorrect_answers_of_a_dataset_that_is_gone(run: Run) -> None:
    """The counts and first errors are still known, the expected answers are not."""
    first = FirstError(strategy="st_00001", inputTickTS=5, kind="wrong", stream="orders", incorrect=2)
    failed = run.validation.model_copy(update={"verdict": "FAILED", "first_errors": (first,)})
    failed.write(run.validation_file)
    shutil.rmtree(run.dataset().expected_folder)
    page = report_of(read_run(run))
    assert payload_of(page)["incorrect"]["firstErrors"] == [["st_00001", 5, "wrong", "orders", 2]]
    assert "the expected answers are no longer there" in text_of(page)


def test_names_from_data_never_become_markup(run: Run) -> None:
    """Symbols, aliases, settings and reasons stay text, whatever they look like."""
    rename_everything(run)
    judge(run)
    change_settings(run, target=NASTY[0], plan=NASTY[1], settings={NASTY[2]: NASTY[4]})
    change_manifest(run, command=("pairs", *NASTY), reason=NASTY[0], state="failed", exit_codes={NASTY[3]: 1})
    shutil.rmtree(run.dataset().path)
    run.strategies_file.unlink()
    page = report_of(read_run(run))
    payload = payload_of(page)
    assert {strategy[0] for strategy in payload["strategies"]["strategies"]} == set(NASTY)
    bare = re.sub(r"<script>/\*\*\n\* plotly.*?</script>", "", page, flags=re.S)
    assert "alert(1)<" not in bare
    assert "<b>" not in bare
    assert "<img" not in bare
    assert bare.count("<script") == 2
    assert NASTY[0] in text_of(page)


def test_the_command(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """`pairs report RUN` writes RUN/report.html and says so; another file with -o."""
    assert cli.run(["report", str(run.path)]) == 0
    assert capsys.readouterr().out.startswith(f"{run.report_file}: ")
    other = run.path / "deep" / "other.html"
    assert cli.run(["report", str(run.path), "-o", str(other)]) == 0
    assert payload_of(other.read_text()) == payload_of(run.report_file.read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: not a run"),
        (["{run}", "{run}"], "--output: missing"),
        (["{run}", "-o", "{run}"], "is a folder"),
        (["{run}", "-o", "{run}/run.json/x.html"], "cannot be written"),
    ],
)
def test_wrong_uses(run: Run, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2, nothing written."""
    before = sorted(run.path.rglob("*"))
    assert cli.run(["report", *(argument.format(run=run.path) for argument in arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert sorted(run.path.rglob("*")) == before


def test_reports_replace_each_other(run: Run) -> None:
    """Made again, a report is the same but for the time, and nothing is left beside it."""
    make_report([run], None)
    before = sorted(run.path.iterdir())
    first = payload_of(run.report_file.read_text())
    make_report([run], None)
    assert payload_of(run.report_file.read_text()) == first
    assert sorted(run.path.iterdir()) == before


def test_a_burst_stands_beside_the_published_ones(tmp_path: Path) -> None:
    """The four measures in a table; a run without a burst has no such table."""
    said = text_of(report_of(read_run(golden_run(tmp_path, curve="burst"))))
    assert "engine X, published 4,725 82.8 43.1 1.0" in said
    assert "engine Z, published" not in text_of(report_of(read_run(golden_run(tmp_path / "other"))))


def test_where_latency_goes(run: Run) -> None:
    """The parts of the chart are the parts of the latency; the sentence about p99 is in both places."""
    page = report_of(read_run(run))
    chart = payload_of(page)["charts"]["latency-parts"]
    assert list(chart["parts"]) == [SENDING, WAITING, BATCH, WAY]
    total = np.sum([decoded(values) for values in chart["parts"].values()], axis=0)
    timed = read_run(run).timed(ORDERS)
    assert timed is not None
    assert timed.latency_s.min() * 1000 - 0.01 < total.min() <= total.max() < timed.latency_s.max() * 1000 + 0.01
    assert text_of(page).count("by the mean of the slowest hundredth of the orders") == 2
    assert "Where does latency go?" in text_of(page)


def test_indicators_stand_in_for_orders(run: Run) -> None:
    """Without orders, the chart is of indicators, and there are no groups of orders."""
    run.answers_file("orders").unlink()
    page = report_of(read_run(run))
    assert payload_of(page)["charts"]["latency-parts"]["stream"] == "indicators"
    assert "By period length" not in text_of(page)


def test_latency_by_group(run: Run) -> None:
    """A table by period, and rows for every pair and strategy with orders, the worst first."""
    recorded = read_run(run)
    page, measured = report_of(recorded), recorded.measured(ORDERS)
    found = payload_of(page)["latencyGroups"]
    assert sum(row[1] for row in found["pairs"]) == sum(row[3] for row in found["strategies"]) == len(measured)
    assert found["slowest"] == found["strategies"][:10]
    assert found["strategies"][0][-1] == pytest.approx(measured.latency_s.max() * 1000, abs=0.01)
    assert "period length orders p50 p99 max 5 s" in text_of(page)


def test_many_strategies(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many rows are in the page; how many there are is said."""
    monkeypatch.setattr(groups, "_MOST_ROWS", 3)
    recorded = read_run(run)
    every = len(latency_groups(recorded).by_strategy)
    page = report_of(recorded)
    found = payload_of(page)["latencyGroups"]
    assert (len(found["strategies"]), found["allStrategies"]) == (3, every)
    assert f"Strategies with orders: the slowest 3 of {every}" in text_of(page)


def test_the_machine_is_disclosed(run: Run) -> None:
    """What may change a result: cores that may be used, load, governor, hypervisor; or that it was not recorded."""
    assert "hypervisor not recorded" in text_of(report_of(read_run(run)))
    known = ENVIRONMENT.model_copy(
        update={"affinity": (0, 1), "load_average": 0.25, "governor": "performance", "virtualized": "kvm"}
    )
    change_manifest(run, environment=known)
    said = text_of(report_of(read_run(run)))
    for words in ("may use 0, 1", "began 0.25", "CPU frequency performance", "hypervisor kvm"):
        assert words in said
