"""Takes the pictures of the documentation: `python -m tests.report.screenshots RUN FAILED COMPARISON FOLDER`.

RUN and FAILED are folders of runs with a report, COMPARISON is a file.
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser

from tests.report.browser import chromium, opened

_TALL = 1_250


def take(browser: Browser, report: Path, target: Path, dark: bool = False, anchor: str = "") -> None:
    """Take a picture of what a reader sees first, or at an anchor."""
    with opened(browser, report, "dark" if dark else "light") as shown:
        shown.page.set_viewport_size({"width": 1_200, "height": _TALL})
        if anchor:
            shown.page.locator(anchor).scroll_into_view_if_needed()
            shown.page.evaluate("(anchor) => document.querySelector(anchor).scrollIntoView()", anchor)
        shown.page.wait_for_timeout(500)
        shown.page.screenshot(path=target)


def main() -> None:
    """Take them all."""
    run, failed, comparison, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        take(browser, run / "report.html", folder / "report.png")
        take(browser, run / "report.html", folder / "report-dark.png", dark=True, anchor="#latency")
        take(browser, run / "report.html", folder / "strategy.png", anchor="#strategies")
        take(browser, failed / "report.html", folder / "failed.png", anchor="#validation")
        take(browser, comparison, folder / "comparison.png", anchor="#scale")


if __name__ == "__main__":
    main()
