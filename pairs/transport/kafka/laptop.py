"""A broker that outlives the command that starts it: for many runs on one machine."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from pairs.core import locks
from pairs.core.errors import BadInputError, PairsError
from pairs.core.interrupts import interruptible, uninterrupted
from pairs.core.jars import cache_folder
from pairs.core.process_tree import end_tree, is_alive, leave_running
from pairs.core.progress import waiting
from pairs.core.records import Count, Record
from pairs.transport.kafka.broker import HOST, prepare_broker

_TIME_TO_STOP_S = 30
_CLOCK_TOLERANCE_S = 10  # by which the system's clock may have been set since
_POLL_S = 0.05


class BrokerRecord(Record):
    """The content of broker.json."""

    FORMAT = 1
    REMEDY = "remove the folder"

    pid: Count
    created: float  # when the process was: its id may be given to another one later
    port: Count

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def process(self) -> psutil.Process | None:
        with suppress(psutil.Error):
            found = psutil.Process(self.pid)
            same = abs(found.create_time() - self.created) < _CLOCK_TOLERANCE_S
            return found if same and is_alive(found) else None
        return None


class LaptopBroker:
    """The broker of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "broker"
        self._record_file = self.folder / "broker.json"
        self._marker = self.folder / ".pairs-broker"

    @property
    def running(self) -> BrokerRecord | None:
        """What is known of the broker; None if it does not run."""
        try:
            record = BrokerRecord.read(self._record_file)
        except FileNotFoundError:
            return None
        return record if record.process is not None else None

    @property
    def disk_bytes(self) -> int:
        sizes = (file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        return sum(sizes)

    def start(self, port: int) -> BrokerRecord:
        """Start a broker that outlives this process; its data folder begins empty."""
        self._make_folder()
        with locks.exclusive(self.folder):
            if (running := self.running) is not None:
                raise BadInputError(
                    f"a broker runs already, at {running.bootstrap}; use it, or call 'pairs broker stop'"
                )
            broker = prepare_broker(self.folder, port)
            with uninterrupted():
                process = self._launch(broker.command)
                created = psutil.Process(process.pid).create_time()
                record = BrokerRecord(pid=process.pid, created=created, port=port)
                record.write(self._record_file)  # so that it is known, whatever happens next
                try:
                    with waiting("starting the broker"), interruptible():
                        broker.wait_until_up(lambda: self._refuse_ended(process))
                except BaseException:
                    end_tree(process.pid)
                    raise
                leave_running(process.pid)
        return record

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInputError(
                f"{self.folder}: cannot be made: {error.strerror}; give another with --folder"
            ) from None
        if any(self.folder.iterdir()) and not self._is_ours:
            raise BadInputError(f"{self.folder}: is not empty and not a broker's; give another with --folder")
        self._marker.touch()

    @property
    def _is_ours(self) -> bool:
        """Whether the folder was made for a broker: nothing is ever removed from another."""
        return self._marker.is_file()

    def _launch(self, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / "broker.log").open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def _refuse_ended(self, process: "subprocess.Popen[bytes]") -> None:
        if process.poll() is not None:
            raise PairsError(f"the broker ended with exit code {process.returncode}; see {self.folder / 'broker.log'}")

    def stop(self) -> bool:
        """End the broker and remove its data; return whether it ran."""
        if not self._is_ours:
            return False
        with locks.exclusive(self.folder):
            record = self.running
            if record is not None:
                self._end(record)
            self._record_file.unlink(missing_ok=True)
            shutil.rmtree(self.folder / "data", ignore_errors=True)
        return record is not None

    @waiting("stopping the broker")
    def _end(self, record: BrokerRecord) -> None:
        with suppress(ProcessLookupError):
            os.kill(record.pid, signal.SIGTERM)
        deadline = time.monotonic() + _TIME_TO_STOP_S
        while record.process is not None:
            if time.monotonic() > deadline:
                end_tree(record.pid)
            time.sleep(_POLL_S)
