"""pairs broker."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairs.cli.options import option, parsed_option
from pairs.config.values import choice, whole

if TYPE_CHECKING:
    from pairs.transport.kafka.laptop import LaptopBroker

_ACTIONS = choice("start", "status", "stop")
_ACTION_HELP = "start, status or stop."
_FOLDER_HELP = "Folder of its data and log; default: in the user's cache folder."


def broker(
    action: Annotated[str, typer.Argument(metavar="ACTION", help=_ACTION_HELP, show_default=False)],
    port: Annotated[int, parsed_option("--port", whole(1, 65_535), "Port on this machine.")] = 9092,
    folder: Annotated[Path | None, option("--folder", "FOLDER", _FOLDER_HELP, show_default=False)] = None,
) -> None:
    """Start, show or stop a Kafka broker on this machine, for many runs.

    One node on loopback, with 512 MB of heap; it keeps half an hour of records. It runs until it is stopped, and
    its data goes with it. Without --bootstrap, a run over Kafka starts a broker of its own.

    $ pairs broker start
    $ pairs bench --profile quick --transport kafka --bootstrap 127.0.0.1:9092
    $ pairs broker stop
    """
    from pairs.transport.kafka.laptop import LaptopBroker

    _ACTIONS.read(action, "ACTION")
    known = LaptopBroker(folder)
    if action == "start":
        print(f"broker at {known.start(port).bootstrap}; end it with 'pairs broker stop'")
    elif action == "stop":
        print("the broker is stopped, its data removed" if known.stop() else "no broker was running")
    else:
        _show(known)


def _show(known: "LaptopBroker") -> None:
    running = known.running
    if running is None:
        print("no broker is running; start one with 'pairs broker start'")
        raise typer.Exit(1)
    process = running.process
    memory = 0 if process is None else process.memory_info().rss
    used = f"{memory / 1e6:,.0f} MB of memory, {known.disk_bytes / 1e6:,.0f} MB on disk"
    print(f"broker at {running.bootstrap}, process {running.pid}, {used}; log: {known.folder / 'broker.log'}")
