"""pairs play."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pairs.cli import options
from pairs.config.run_settings import RunSettings

if TYPE_CHECKING:
    from pairs.transport.base import Transport

_RUN_HELP = "Run that pairs collect began; a new folder gets ticks only, and nobody collects answers."


@options.accepts(RunSettings, only=("transport", "speed", "drivers"))
def play(
    dataset: options.DatasetArgument,
    output: Annotated[Path, options.option("--output -o", "RUN", _RUN_HELP)],
    *,
    flags: dict[str, Any],
) -> None:
    """Send the ticks of a dataset to a program of your own, in any language.

    Begin the run with pairs collect, start the program, then this: it waits
    until the program is connected and sends every tick when it is due, whatever
    the program does. docs/targets.md has an example.

    $ pairs play data/quick -o runs/mine --speed 60
    """
    from pairs.dataset.folder import Dataset
    from pairs.harness.external import has_engine
    from pairs.stages import play as stage

    def announce(transport: "Transport") -> None:
        print(f"ticks    {transport.source}", flush=True)
        if transport.sink is not None and not has_engine(transport):
            print(f"waiting for a program to connect to {transport.sink}", flush=True)

    manifest = stage.play(Dataset(dataset), flags, output, announce).manifest
    speed = "unpaced" if manifest.speed is None else f"at speed {manifest.speed:g}"
    ticks = "all ticks" if manifest.ticks is None else f"{manifest.ticks:,} ticks"
    print(f"{output}: {ticks} were sent, {speed}")
