"""The connection of a query in real-time mode to the sink breaks: it fails, is started again, and loses nothing."""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from pairs.run_folder.folder import Run
from pairs.run_folder.records import SinkRecord
from tests.markets import golden_market
from tests.processes import Command, start_pairs, wait_until

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

BREAKS_AFTER_BYTES = 20_000  # of answers: in the middle of the run


class Proxy:
    """Passes connections on to an address; breaks the first one that has sent so many bytes."""

    def __init__(self, port: int) -> None:
        self._port, self.broken, self.connections = port, False, 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                threading.Thread(target=self._pass_on, args=(connection,), daemon=True).start()

    def _pass_on(self, connection: socket.socket) -> None:
        passed = 0
        with connection, socket.create_connection(("127.0.0.1", self._port)) as sink:
            while received := connection.recv(4_096):
                sink.sendall(received)
                passed += len(received)
                if passed > BREAKS_AFTER_BYTES and not self.broken:
                    self.broken = True
                    return

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()


def test_a_query_whose_connection_breaks_is_started_again(tmp_path: Path, pairs_command: Command) -> None:
    """Every answer is right, and those that came before the break and again after it are dropped and counted."""
    market, run, app = golden_market(tmp_path / "market"), tmp_path / "run", tmp_path / "app"
    assert pairs_command("translate", str(market), "--plan", "realtime", "-o", str(app)).returncode == 0
    collect = start_pairs("collect", market, "-o", run, "--name", "spark", "--plan-class", "keyed")
    port = run / "transport" / "port"
    wait_until(port.exists)
    proxy = Proxy(int(port.read_text()))
    places = ["--source", f"{run}/transport/log", "--sink", proxy.address, "--checkpoint", str(tmp_path / "state")]
    program = [sys.executable, str(app / "app.py"), *places, "--batch-seconds", "5", "--cold"]
    log = tmp_path / "app.log"
    with log.open("w") as output, subprocess.Popen(program, env=os.environ, stderr=output) as started:
        wait_until(lambda: (run / "transport" / "connections").exists() or started.poll() is not None)
        assert started.poll() is None, log.read_text()
        assert pairs_command("play", str(market), "-o", str(run), "--speed", "60").returncode == 0
        assert started.wait(120) == 0, log.read_text()
    proxy.close()
    assert collect.wait(60) == 0
    assert proxy.broken
    assert proxy.connections == 2
    assert "the query failed and is started again" in log.read_text()
    assert pairs_command("validate", str(run)).returncode == 0
    assert sum(SinkRecord.read(Run(run).sink_file).repeated_rows.values()) > 0
