"""Interrupts: Ctrl-C, SIGTERM and SIGHUP end a command at any moment, once, and let it clean up.

An interrupt is raised in the main thread as KeyboardInterrupt. Further signals do not disturb the cleanup that follows.
What must not be interrupted half-way is done in an `uninterrupted` block, after which the interrupt is raised. Imported
first of all, so it imports nothing that takes time.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar

from pairs.core.errors import CommandInterruptedError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SOON_S = 0.05

Parameters = ParamSpec("Parameters")
Given = TypeVar("Given")


class _State:
    """Whether interrupts are held back, and whether one came meanwhile."""

    held = False
    pending = False


_state = _State()


def exit_on_signals() -> None:
    """Handle the signals while nothing has begun: end at once. Signals that are ignored, as with nohup, stay so."""
    _handle_with(_exit_at_once)


def raise_on_signals() -> None:
    """Handle the signals by an interrupt from now on, wherever the command is `interruptible`."""
    from pairs.core.process_tree import adopt_orphans

    adopt_orphans()
    _state.held = True
    sys.unraisablehook = _raise_lost_again
    signal.signal(signal.SIGALRM, _interrupt)
    _handle_with(_interrupt)


def leave(code: int) -> NoReturn:
    """End this process, and before it every process below it; no signal disturbs that."""
    from pairs.core.process_tree import end_descendants

    _state.held = True
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    end_descendants()
    os._exit(code)  # an ordinary exit would wait for threads, and call into a JVM that is gone


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the end of the block."""
    before, _state.held = _state.held, True
    try:
        yield
    finally:
        _restore(before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Allow interrupts for a part of what is otherwise uninterrupted."""
    before = _state.held
    try:
        _restore(False)
        yield
    finally:
        _state.held = before


def guarded_context(
    function: Callable[Parameters, Iterator[Given]],
) -> Callable[Parameters, AbstractContextManager[Given]]:
    """Make a context manager of a function, as `contextmanager` does; only the body of the block is interruptible."""

    @contextmanager
    @wraps(function)
    def guarded(*arguments: Parameters.args, **named: Parameters.kwargs) -> Iterator[Given]:
        with uninterrupted(), contextmanager(function)(*arguments, **named) as given, interruptible():
            yield given

    return guarded


@contextmanager
def keeping(describe: Callable[[], str]) -> Iterator[None]:
    """Say what is kept if the command is interrupted in this block; an outer block knows better than an inner."""
    try:
        yield
    except (KeyboardInterrupt, CommandInterruptedError):
        raise CommandInterruptedError(f"interrupted; {describe()}") from None


def _handle_with(handler: Callable[[int, Any], None]) -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _exit_at_once(*_: object) -> None:
    os.write(2, b"pairs: interrupted; nothing was left half-written\n")
    os._exit(CommandInterruptedError.exit_code)


def _interrupt(*_: object) -> None:
    if _state.held:
        _state.pending = True
    else:
        _raise()


def _restore(held: bool) -> None:
    _state.held = held
    if not held and _state.pending:
        _state.pending = False
        _raise()


def _raise() -> None:
    """Raise an interrupt, unless an earlier one is being handled: its cleanup must come to its end."""
    handled = sys.exception()
    while handled is not None:
        if isinstance(handled, KeyboardInterrupt):
            return
        handled = handled.__context__
    raise KeyboardInterrupt("interrupted")


def _raise_lost_again(lost: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again soon that came where Python ignores errors, as in the destructor of an object."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _SOON_S)
    else:
        sys.__unraisablehook__(lost)
