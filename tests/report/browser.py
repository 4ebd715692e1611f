"""Opens reports in a headless Chromium and notes whatever it complains about."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_LONGEST_MS = 120_000
_POLL_MS = 50


@dataclass
class Opened:
    """A report in a browser, and everything that went wrong there."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def states(self) -> dict[str, str]:
        """Return for each chart whether it is drawn or said to be absent."""
        found: dict[str, str] = self.page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.chart')].map("
            "(chart) => [chart.id, String(chart.getAttribute('data-drawn'))]))"
        )
        return found

    def wait_until(self, condition: str) -> None:
        """Wait for a condition; the page's own policy forbids Playwright's way of waiting, which evaluates texts."""
        for _ in range(_LONGEST_MS // _POLL_MS):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(_POLL_MS)
        raise AssertionError(f"never came true: {condition}")

    def resize(self, width: int) -> None:
        """Set the width of the window, and wait until charts have followed."""
        self.page.set_viewport_size({"width": width, "height": 900})
        charts = "[...document.querySelectorAll('.chart .main-svg')]"
        inside = f"{charts}.every((chart) => chart.clientWidth <= chart.closest('.chart').clientWidth)"
        self.wait_until(f"innerWidth === {width} && {inside}")

    def overhang(self) -> dict[str, int]:
        """Return what reaches beyond the right edge of the window, by its right edge; nothing if nothing scrolls."""
        found: dict[str, int] = self.page.evaluate(
            "(() => { const page = document.documentElement;"
            "if (page.scrollWidth <= innerWidth) return {};"
            "const parts = [...document.querySelectorAll('body *')];"
            "const beyond = parts.filter((part) => !part.parentElement.closest('.scroll, svg')"
            " && part.getBoundingClientRect().right > innerWidth);"
            "const named = beyond.map((part) => [`${part.tagName} ${part.id} ${part.className}`,"
            " part.getBoundingClientRect().right]);"
            "return Object.fromEntries([['page', page.scrollWidth], ...named]); })()"
        )
        return found

    def column(self, table: str, number: int) -> list[str]:
        """Return the texts of a column of a table, counted from 1."""
        return self.page.locator(f"{table} tbody td:nth-child({number})").all_inner_texts()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, report: Path, scheme: Literal["light", "dark"] = "light") -> Iterator[Opened]:
    """Open a report from disk and wait until all of it is drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: found.complaints.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: found.requests.append(request.url))
    try:
        page.goto(report.absolute().as_uri())
        page.wait_for_selector("html[data-ready]", timeout=_LONGEST_MS)
        yield found
    finally:
        page.close()
