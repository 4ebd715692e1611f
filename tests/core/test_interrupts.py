"""Interrupts are raised once, held back where something must be whole, and never lost."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from pairs.core import interrupts
from pairs.core.errors import CommandInterruptedError

HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


@pytest.fixture(autouse=True)
def _handled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Handle signals as the command does, for the time of a test, which is interruptible."""
    monkeypatch.setattr("pairs.core.process_tree.adopt_orphans", lambda: None)
    handlers = {number: signal.getsignal(number) for number in HANDLED}
    hook = sys.unraisablehook
    interrupts.raise_on_signals()
    try:
        with interrupts.interruptible():
            yield
    finally:
        interrupts._state.held = interrupts._state.pending = False
        sys.unraisablehook = hook
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_interrupts(sent: signal.Signals) -> None:
    """All three alike."""
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        signal.raise_signal(sent)


def test_a_step_that_must_be_whole_is_not_interrupted() -> None:
    """The interrupt follows at its end, or where it is allowed before."""
    done = []

    def step(interruptible: bool) -> None:
        with interrupts.uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            done.append("begun")
            with interrupts.interruptible() if interruptible else nullcontext():
                done.append("whole")

    for interruptible in (False, True):
        with pytest.raises(KeyboardInterrupt):
            step(interruptible)
    assert done == ["begun", "whole", "begun"]


def test_cleanup_is_not_interrupted_again() -> None:
    """Not by Ctrl-C, however often, and not by closing the terminal; after it signals count again."""
    done = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            for sent in (signal.SIGINT, signal.SIGINT, signal.SIGHUP):
                signal.raise_signal(sent)
            done.append("cleanup")

    for count in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            work()
        assert len(done) == count


def test_a_guarded_context_is_set_up_and_cleaned_up_whole() -> None:
    """An interrupt in its setup or cleanup comes after it; one in the body comes at once."""
    done: list[str] = []

    @interrupts.guarded_context
    def noisy(moment: str) -> Iterator[None]:
        if moment == "setup":
            signal.raise_signal(signal.SIGINT)
        done.append("setup")
        try:
            yield
        finally:
            if moment == "cleanup":
                signal.raise_signal(signal.SIGINT)
            done.append("cleanup")

    def use(moment: str) -> None:
        with noisy(moment):
            if moment == "body":
                signal.raise_signal(signal.SIGINT)
            done.append("body")

    for moment in ("setup", "body", "cleanup"):
        with pytest.raises(KeyboardInterrupt):
            use(moment)
    assert done == ["setup", "cleanup", "setup", "cleanup", "setup", "body", "cleanup"]


def test_an_interrupt_in_a_destructor_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    """Python ignores errors there and would print a traceback; it is raised again soon."""

    class Interrupted:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def destroy_and_wait() -> None:
        Interrupted()
        time.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        destroy_and_wait()
    assert capfd.readouterr().err == ""


def test_the_outer_stage_says_what_is_kept() -> None:
    """It knows what the user asked for."""
    with (
        pytest.raises(CommandInterruptedError, match="interrupted; the search"),
        interrupts.keeping(lambda: "the search"),
        interrupts.keeping(lambda: "the run"),
    ):
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_stays_ignored() -> None:
    """As nohup wants it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupts.raise_on_signals()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    interrupts._state.held = False
    signal.raise_signal(signal.SIGHUP)
