"""A run whose engine somebody else starts: the sink alone, and the drivers alone, as two commands or only the latter.

Whoever began the run records it and removes the transport.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from signal import SIGTERM

from pairs.core.errors import PairsError
from pairs.core.interrupts import interruptible, uninterrupted
from pairs.core.progress import waiting
from pairs.core.units import show_duration
from pairs.harness.live_view import live_view
from pairs.harness.playback import Playback, Replay
from pairs.harness.processes import SINK
from pairs.harness.recorder import Recorder, recording
from pairs.run_folder.folder import Run
from pairs.transport.base import Positions, Transport

_POLL_S = 0.1
_LINGER_S = 2.0  # an engine that has closed its connections may open another

Began = Callable[[int | None], None]  # is told when the first tick is due, us of wall time; none if unpaced
ExitCodes = dict[str, int | None]


@dataclass(frozen=True)
class Collected:
    """How the sink alone went."""

    seconds: float  # since an engine was connected
    ticks_per_second: float | None  # between the engine's first and last progress, if it told
    exit_codes: ExitCodes


def collect(run: Run, transport: Transport, announce: Callable[[], None], played: Callable[[], bool]) -> Collected:
    """Record answers until all ticks were sent and the engine has closed its connections, or from then on Ctrl-C.

    `announce` is called when answers can be sent; `played` tells whether all ticks were, and raises if they will not.
    """
    with recording(run, transport) as recorder:
        return _Collector(recorder, played).execute(announce)


class _Collector:
    def __init__(self, recorder: Recorder, played: Callable[[], bool]) -> None:
        self._recorder, self._transport, self._all_played = recorder, recorder.transport, played
        self._played = False
        self._connected_at: float | None = None  # when an engine was first connected
        self._open_at = 0.0  # when a connection was last open

    def execute(self, announce: Callable[[], None]) -> Collected:
        recorder, transport = self._recorder, self._transport
        transport.create(recorder.processes.start_service)
        sink = recorder.processes.start_module(SINK, "pairs.harness.sink", recorder.run.path)
        while transport.sink is None:
            recorder.processes.check()
            time.sleep(_POLL_S / 10)
        announce()
        try:
            self._watch()
        except KeyboardInterrupt:
            if not self._all_played():
                raise
        finally:
            recorder.note(force=True)
        sink.end(SIGTERM)
        recorder.processes.check()
        now = time.monotonic()
        seconds = now - (self._connected_at or now)
        return Collected(seconds, recorder.throughput.ticks_per_second(), recorder.processes.exit_codes())

    def _watch(self) -> None:
        recorder = self._recorder
        with live_view(recorder.run, recorder.sampler) as view:
            while not (self._engine_left() and self._played):
                recorder.processes.check()
                if recorder.sample():
                    self._played = self._all_played()
                positions = recorder.note()
                view.show(self._phase(positions), positions)
                time.sleep(_POLL_S)

    def _engine_left(self) -> bool:
        """Return whether an engine was connected, and has not been for some seconds."""
        now = time.monotonic()
        if self._connected_at is None and self._transport.ready:
            self._connected_at = self._open_at = now
        if not self._transport.left:
            self._open_at = now
        return self._connected_at is not None and now - self._open_at > _LINGER_S

    def _phase(self, positions: Positions) -> str:
        if not positions.produced:
            connected = has_engine(self._transport)
            return "waiting for 'pairs play'" if connected else "waiting for a program to connect"
        return "waiting for the program to close its connections" if positions.closed else "playing"


def has_engine(transport: Transport) -> bool:
    """Return whether a program is connected now, as far as the transport can tell."""
    return transport.ready and not transport.left


def wait_for_engine(run: Run, transport: Transport) -> None:
    with waiting(f"waiting for a program to connect to {transport.sink}"):
        while not has_engine(transport):
            _refuse_ended(run)
            time.sleep(_POLL_S)


def play(run: Run, replay: Replay, transport: Transport, began: Began) -> ExitCodes:
    """Send all ticks into a transport that another process has created; whatever happens, end the drivers."""
    recorder = Recorder(run, transport)  # not as a context: the other process writes and removes
    with uninterrupted():
        try:
            with interruptible():
                return _send(replay, recorder, began, lambda: _refuse_ended(run))
        finally:
            recorder.processes.end_all()


def play_alone(run: Run, replay: Replay, transport: Transport, announce: Callable[[], None], began: Began) -> ExitCodes:
    """Send all ticks into a transport of its own, and keep them until they are consumed; nobody collects answers.

    `announce` is called when the transport is there.
    """
    with recording(run, transport) as recorder:
        transport.create(recorder.processes.start_service)
        announce()
        codes = _send(replay, recorder, began)
        _wait_until_consumed(recorder)
    return codes


def _refuse_ended(run: Run) -> None:
    if not run.transport_folder.exists():
        raise PairsError(f"{run.path}: 'pairs collect' has ended, so no tick can be sent; begin another run with it")


def _send(replay: Replay, recorder: Recorder, began: Began, check: Callable[[], None] = lambda: None) -> ExitCodes:
    """Send all ticks; `check` is called now and then, and raises if that is not possible any more."""
    playback = Playback(replay, recorder)
    playback.start(began)
    with playback.shown() as show:
        while playback.running:
            check()
            recorder.processes.check()
            recorder.sample()
            show(recorder.note())
            _refuse_stalled(replay, recorder)
            time.sleep(_POLL_S)
    recorder.processes.check()
    return recorder.processes.exit_codes()


def _refuse_stalled(replay: Replay, recorder: Recorder) -> None:
    """End unpaced drivers, which wait for the program, if it stands still."""
    timeout_ms = replay.settings.stall_timeout
    if replay.speed is None and recorder.throughput.stalled_s() * 1000 > timeout_ms:
        raise PairsError(
            f"the program marked no tick as read or consumed for {show_duration(timeout_ms)}, and unpaced drivers wait "
            "for that; let it mark them, or give a --speed"
        )


def _wait_until_consumed(recorder: Recorder) -> None:
    with live_view(recorder.run, recorder.sampler) as view, suppress(KeyboardInterrupt):
        while (positions := recorder.note()).consumed < positions.produced:
            recorder.sample()
            view.show("all ticks are sent, and kept until they are marked as consumed; Ctrl-C ends it", positions)
            time.sleep(_POLL_S)
    recorder.note(force=True)
