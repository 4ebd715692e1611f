"""Reports of real runs in a real browser: nothing in its console, every chart drawn, everything in it works."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

from pairs.measure.repetition import Point
from pairs.report.making import make_report, make_sweep_report
from pairs.run_folder.folder import Run
from pairs.stages.sweep import figures
from tests.report import real_runs
from tests.report.browser import CHROMIUM, chromium, opened
from tests.report.pages import NASTY, rename_everything
from tests.report.runs import change_manifest, change_settings, golden_run, judge

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(1_200),  # the runs at the beginning, on a busy machine
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"no {CHROMIUM}; install the package chromium"),
]


@dataclass(frozen=True)
class Reports:
    """Real runs and their reports."""

    passed: Run
    failed: Run
    void: Run
    comparison: Path
    sweep: Path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Run the benchmark, with all that can come of it."""
    folder = tmp_path_factory.mktemp("reports")
    passed = real_runs.passed(folder)
    failed, void = real_runs.failed(folder, passed), real_runs.void(folder)
    comparison = make_report([passed, failed, void], folder / "comparison.html")
    return Reports(passed, failed, void, comparison, sweep_of([passed, failed, void], folder / "sweep.html"))


def sweep_of(runs: list[Run], page: Path) -> Path:
    """Make the report of a sweep of which each run is a point."""
    points = [Point(run.path.name, {"shards": run.path.name}, "keyed", (figures(run),)) for run in runs]
    return make_sweep_report(points, runs, page)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser for all tests."""
    with chromium() as running:
        yield running


def file_of(reports: Reports, name: str) -> Path:
    """Return a report by its name."""
    found: Run | Path = getattr(reports, name)
    return found.report_file if isinstance(found, Run) else found


@pytest.mark.parametrize("name", ["passed", "failed", "void", "comparison", "sweep"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_in_the_console_and_nothing_loaded(reports: Reports, browser: Browser, name: str, scheme: str) -> None:
    """No error, no warning, no word; the only thing opened is the file itself."""
    file = file_of(reports, name)
    with opened(browser, file, "dark" if scheme == "dark" else "light") as report:
        assert report.complaints == []
        assert [url for url in report.requests if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


@pytest.mark.parametrize("name", ["passed", "failed", "void", "comparison"])
def test_every_chart_is_drawn(reports: Reports, browser: Browser, name: str) -> None:
    """With lines or bars in it; only the program without an engine has nothing to say about batches and a JVM."""
    with opened(browser, file_of(reports, name)) as report:
        states = report.states()
        absent = {chart for chart, state in states.items() if state == "absent"}
        assert set(states.values()) <= {"true", "absent"}
        assert len(states) == (3 if name == "comparison" else 19)
        assert absent == ({"collection", "batches", "batch-rows", "state"} if name == "void" else set())
        for chart in states.keys() - absent:
            shapes = report.page.locator(f"#{chart} .scatterlayer path, #{chart} .barlayer path").count()
            box = report.page.locator(f"#{chart} .main-svg").first.bounding_box()
            assert shapes > 0, chart
            assert box is not None
            assert box["width"] > 300, chart
            assert box["height"] > 150, chart


@pytest.mark.parametrize("name", ["passed", "void"])
def test_the_worst_latency_is_visible(reports: Reports, browser: Browser, name: str) -> None:
    """The axis of the chart reaches up to the worst order of the run, and a line and a dot go there."""
    run: Run = getattr(reports, name)
    orders = pq.read_table(run.answers_file("orders"), columns=["inputTS", "sinkTS"])
    worst = float((orders["sinkTS"].to_numpy() - orders["inputTS"].to_numpy()).max()) / 1000
    with opened(browser, run.report_file) as report:
        top, drawn = report.page.evaluate(
            "(() => { const chart = document.getElementById('latency-orders'); const axis = chart._fullLayout.yaxis;"
            "const top = axis.type === 'log' ? 10 ** axis.range[1] : axis.range[1];"
            "return [top, chart._fullData.map((trace) => Math.max(...trace.y))]; })()"
        )
    assert top >= worst
    assert sum(value == pytest.approx(worst) for value in drawn) >= 2


def test_the_verdicts(reports: Reports, browser: Browser) -> None:
    """What the cards say of the three runs."""
    texts = {}
    for name in ("passed", "failed", "void"):
        with opened(browser, file_of(reports, name)) as report:
            texts[name] = report.page.locator("#verdict").inner_text()
    assert "PASSED" in texts["passed"]
    assert "FAILED" in texts["failed"]
    assert "The score is void: validation FAILED." in texts["failed"]
    assert "PASSED" in texts["void"]
    assert "The score is void: the driver's send delay was" in texts["void"]


def test_a_late_driver_shows(reports: Reports, browser: Browser) -> None:
    """While the driver stood still, latency from send time stays low and the scored latency does not."""
    with opened(browser, reports.void.report_file) as report:
        scheduled, sent = report.page.evaluate(
            "document.getElementById('scheduled-sent')._fullData.map((trace) => Math.max(...trace.y))"
        )
        assert scheduled > 2_000
        assert sent < scheduled / 2
        assert "No: p99 is" in report.page.locator("#stability").inner_text()


def test_incorrect_answers_can_be_searched_and_sorted(reports: Reports, browser: Browser) -> None:
    """By heading in both directions, by a word in any column, and by the kind of error."""
    with opened(browser, reports.failed.report_file) as report:
        kinds = report.page.locator("#incorrect-kinds button")
        assert [label.split(" (")[0] for label in kinds.all_inner_texts()] == [
            "missing orders",
            "undue orders",
            "wrong orders",
            "wrong indicators",
        ]
        kinds.filter(has_text="wrong orders").click()
        table = "#incorrect-table"
        for descending in (False, True):
            report.page.locator(f"{table} th button", has_text="val_price").click()
            prices = [int(text) for text in report.column(table, 6)]
            assert prices == sorted(prices, reverse=descending)
            assert len(prices) > 5
        for val, sut in zip(report.column(table, 6), report.column(table, 7), strict=True):
            assert int(sut) - int(val) == 3
        wanted = report.column(table, 1)[0]
        report.page.locator(f"{table} input").fill(wanted.upper())
        assert set(report.column(table, 1)) == {wanted}
        report.page.locator(f"{table} input").fill("there is no such thing")
        assert report.column(table, 1) == []
        assert "nothing found" in report.page.locator(f"{table} .paging").inner_text()
        assert report.complaints == []


def test_long_lists_have_pages(reports: Reports, browser: Browser) -> None:
    """Twenty-five rows at a time, to the end."""
    with opened(browser, reports.failed.report_file) as report:
        report.page.locator("#incorrect-kinds button", has_text="wrong indicators").click()
        before = report.column("#incorrect-table", 2)
        report.page.locator("#incorrect-table .paging button", has_text="next").click()
        after = report.column("#incorrect-table", 2)
        assert (len(before), len(after)) == (25, 25)
        assert before != after


def test_from_a_first_error_to_its_strategy(reports: Reports, browser: Browser) -> None:
    """A click on a strategy shows it, with its incorrect answers marked."""
    with opened(browser, reports.failed.report_file) as report:
        report.page.locator("#first-errors th button", has_text="incorrect answers").click()
        counts = [int(text.replace(",", "")) for text in report.column("#first-errors", 5)]
        assert counts == sorted(counts)
        name = report.column("#first-errors", 1)[-1]
        report.page.locator("#first-errors td button", has_text=name).click()
        report.wait_until(f"document.getElementById('strategy-parameters').textContent.startsWith('{name} ')")
        assert report.page.locator("#strategy-name").input_value() == name
        traces = report.page.evaluate("document.getElementById('strategy').data.map((trace) => trace.name)")
        assert "incorrect answers, of those listed" in traces


def test_any_strategy_can_be_chosen(reports: Reports, browser: Browser) -> None:
    """By name or one after the other; what is drawn are the answers that the engine gave."""
    indicators = pq.read_table(reports.passed.answers_file("indicators")).to_pandas()
    orders = pq.read_table(reports.passed.answers_file("orders")).to_pandas()
    with opened(browser, reports.passed.report_file) as report:
        for name in ("st_00002", "st_00025", "st_00001"):
            report.page.locator("#strategy-name").fill(name)
            report.page.locator("#strategy-name").press("Enter")
            report.wait_until(f"document.getElementById('strategy-parameters').textContent.startsWith('{name}')")
            ratio, marks = report.page.evaluate(
                "(() => { const traces = document.getElementById('strategy').data;"
                "const marks = traces.filter((trace) => trace.mode === 'markers').map((trace) => trace.x.length);"
                "return [Array.from(traces.find((trace) => trace.name === 'ratio').y),"
                " marks.reduce((sum, count) => sum + count, 0)]; })()"
            )
            own = indicators[indicators["strategy"] == name].sort_values("inputTickTS")["ratio"].to_numpy()
            assert np.array(ratio) == pytest.approx(own, abs=float(np.ptp(own)) / 60_000)
            assert marks == orders[orders["strategy"] == name]["inputTickTS"].nunique()
        report.page.locator("#strategy-next").click()
        assert report.page.locator("#strategy-name").input_value() == "st_00002"
        report.page.locator("#strategy-name").fill("nobody")
        report.page.locator("#strategy-name").press("Enter")
        assert "no strategy of that name" in report.page.locator("#strategy-problem").inner_text()
        assert report.complaints == []


def test_light_and_dark(reports: Reports, browser: Browser) -> None:
    """Charts follow the reader's preference, also when it changes."""
    colour = "getComputedStyle(document.querySelector('#rate .xtick text')).fill"
    with opened(browser, reports.passed.report_file) as report:
        light = report.page.evaluate(colour)
        report.page.emulate_media(color_scheme="dark")
        report.wait_until(f"{colour} !== '{light}'")
        assert report.complaints == []


def test_it_prints_well(reports: Reports, browser: Browser) -> None:
    """On paper charts are light and as wide as the page, and after printing they are as before."""
    width = "Math.max(...[...document.querySelectorAll('.js-plotly-plot .main-svg')].map((chart) => chart.clientWidth))"
    with opened(browser, reports.passed.report_file, "dark") as report:
        before = report.page.evaluate(width)
        report.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        report.wait_until(f"{width} <= 690")
        report.page.evaluate("dispatchEvent(new Event('afterprint'))")
        report.wait_until(f"{width} === {before}")
        assert len(report.page.pdf(prefer_css_page_size=True)) > 50_000
        assert report.complaints == []


def test_runs_side_by_side(reports: Reports, browser: Browser) -> None:
    """Three runs in a table that can be sorted, and why they should not be compared."""
    with opened(browser, reports.comparison) as report:
        assert report.column("#runs-table", 1) == ["passed", "failed", "void"]
        report.page.locator("#runs-table th button", has_text="p99, ms").click()
        latencies = [float(text.replace(",", "")) for text in report.column("#runs-table", 12)]
        assert latencies == sorted(latencies)
        report.page.locator("#runs-table input").fill("bare")
        assert report.column("#runs-table", 1) == ["void"]
        warnings = report.page.locator(".warnings").inner_text()
        assert "failed is void: validation FAILED" in warnings
        assert re.search(r"^void is void: .*the driver's send delay was", warnings, re.M)


def test_names_stay_text(tmp_path: Path, browser: Browser) -> None:
    """Markup in symbols, aliases and settings is shown as it is written, and does nothing."""
    run = golden_run(tmp_path)
    rename_everything(run)
    judge(run)
    change_settings(run, target=NASTY[0])
    change_manifest(run, reason=NASTY[1])
    make_report([run], None)
    with opened(browser, run.report_file) as report:
        for name in NASTY[:5]:
            report.page.locator("#incorrect-table input").fill(name)
        report.page.locator("#incorrect-table input").fill("")
        report.page.locator("#strategy-next").click()
        assert report.complaints == []
        assert report.page.locator("main img, .sheet img, .sheet b").count() == 0
        assert report.page.locator("script").count() == 3
        assert NASTY[0] in report.page.locator("header").inner_text()


@pytest.mark.parametrize("lost", ["dataset", "answers", "everything", "the schedule"])
def test_incomplete_runs(tmp_path: Path, browser: Browser, lost: str) -> None:
    """Whatever is missing leaves a sentence in the place of a chart, and nothing in the console."""
    run = golden_run(tmp_path)
    if lost == "dataset":
        shutil.rmtree(run.dataset().path)
    elif lost == "the schedule":
        change_manifest(run, start_us=None)
        change_settings(run, speed="max")
    else:
        for file in run.path.iterdir():
            if file != run.manifest_file and (lost == "everything" or file.stem in ("indicators", "orders")):
                file.unlink()
    make_report([run], None)
    with opened(browser, run.report_file) as report:
        assert set(report.states().values()) <= {"true", "absent"}
        assert report.complaints == []


WIDTHS = [360, 420, 1_000]
UNFOLD = "for (const part of document.querySelectorAll('details')) part.open = true"
LONG = ["x" * 300, "/deep" * 80, "W" * 120]


@pytest.mark.parametrize("name", ["passed", "failed", "void", "comparison", "sweep"])
def test_no_page_scrolls_sideways(reports: Reports, browser: Browser, name: str) -> None:
    """On a phone as on a desk, also when the window is made narrower: tables scroll in their own frame."""
    with opened(browser, file_of(reports, name)) as report:
        report.page.evaluate(UNFOLD)
        for width in reversed(WIDTHS):
            report.resize(width)
            assert report.overhang() == {}, width
        assert report.complaints == []


@pytest.mark.parametrize("name", ["single", "comparison", "sweep"])
def test_long_names_do_not_widen_a_page(tmp_path: Path, browser: Browser, name: str) -> None:
    """Names without a gap are broken where the line ends, wherever they stand."""
    runs = [golden_run(tmp_path, seed) for seed in (1, 2)]
    for run in runs:
        rename_everything(run, LONG)
        judge(run)
        change_settings(run, target=LONG[0], plan=LONG[2], settings={LONG[0]: LONG[1]})
        change_manifest(run, reason=LONG[1], command=("pairs", *LONG), state="failed")
    page = tmp_path / "page.html"
    if name == "sweep":
        sweep_of(runs, page)
    else:
        make_report(runs if name == "comparison" else runs[:1], page)
    with opened(browser, page) as report:
        report.page.evaluate(UNFOLD)
        for width in reversed(WIDTHS):
            report.resize(width)
            assert report.overhang() == {}, width
        assert report.complaints == []


def test_a_phone(reports: Reports, browser: Browser) -> None:
    """Charts are as wide as the cards that they stand in, and the panels of a comparison are below each other."""
    with opened(browser, reports.passed.report_file) as report:
        report.resize(360)
        widths = report.page.evaluate(
            "[...document.querySelectorAll('.chart .main-svg')].map((chart) => chart.clientWidth)"
        )
        assert set(widths) <= set(range(290, 361))
    with opened(browser, reports.comparison) as report:
        panel = "document.querySelector(`#by-scale-factor .subplot.${name}`).getBoundingClientRect().top"
        panels = f"['xy', 'x2y2', 'x3y3'].map((name) => {panel})"
        report.resize(1000)
        report.wait_until(f"new Set({panels}).size === 1")
        report.resize(360)
        report.wait_until(f"new Set({panels}).size === 3")
