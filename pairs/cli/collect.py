"""pairs collect."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pairs.cli import options
from pairs.config.run_settings import RunSettings, load_run
from pairs.config.values import choice, text
from pairs.model.plan import CLASSES, PlanClass

if TYPE_CHECKING:
    from pairs.transport.base import Transport

_NAME_HELP = "Name of your engine, for score and report."
_CLASS_HELP = "Class of your program, as you declare it. " + " ".join(
    f"{name}: {meaning}." for name, meaning in CLASSES.items()
)


@options.accepts(RunSettings, only=("transport", "drivers"))
def collect(
    dataset: options.DatasetArgument,
    output: Annotated[Path, options.option("--output -o", "RUN", "Folder of the run to begin.")],
    name: Annotated[str, options.parsed_option("--name", text("NAME"), _NAME_HELP)] = "external",
    plan_class: Annotated[PlanClass, options.parsed_option("--plan-class", choice(*CLASSES), _CLASS_HELP)] = "block",
    overwrite: options.OverwriteOption = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Begin a run for a program of your own, in any language, and collect its answers.

    Prints where the program finds ticks and where it sends answers. Start it,
    then send the ticks with pairs play. Ends when all ticks were sent and the
    program has closed its connections; after the last tick, also with Ctrl-C.
    docs/targets.md describes the tick log and the answers.

    $ pairs collect data/quick -o runs/mine --name my-engine
    """
    from pairs.cli.render import render
    from pairs.dataset.folder import Dataset
    from pairs.stages import collect as stage

    def announce(transport: "Transport") -> None:
        print(f"ticks    {transport.source}")
        print(f"answers  {transport.sink}")
        print(f"start your program, and send ticks with 'pairs play {dataset} -o {output}'", flush=True)

    settings = stage.external_settings(load_run("local", flags), name)
    run = stage.collect(Dataset(dataset), settings, plan_class, output, overwrite, announce)
    render(run)
    print(f"check its answers with 'pairs validate {output}'")
