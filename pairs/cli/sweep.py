"""pairs sweep."""

from pathlib import Path
from typing import Annotated, Any

from pairs.cli import options
from pairs.config.grid import grid
from pairs.config.run_settings import RunSettings
from pairs.config.workload import Workload
from pairs.dataset.formats import VIRTUAL

_OUTPUT_HELP = "Folder of the sweep; default: under sweeps/."
_DATA_HELP = "Folder of the dataset, generated if missing; default: in the folder of the sweep."


@options.accepts(Workload, RunSettings)
def sweep(
    profile: Annotated[str | None, options.profile_option("that of --data, or quick")] = None,
    run: options.RunOption = "local",
    repeat: options.RepeatOption = 3,
    output: Annotated[Path | None, options.option("--output -o", "SWEEP", _OUTPUT_HELP)] = None,
    data: Annotated[Path | None, options.option("--data", "DATASET", _DATA_HELP)] = None,
    generate: options.GenerateOption = False,
    master: options.EngineMasterOption = None,
    *,
    flags: dict[str, Any],
) -> None:
    r"""Run a grid of settings on one dataset, each several times, and say which differ beyond noise.

    Values of a run's flag are separated by commas; every combination is a
    point. A comma within a value is written \,. Points are interleaved: all
    once, then all again backwards. Every run is validated, scored and
    reported. Called again, an interrupted sweep goes on; with a higher
    --repeat, runs are added. Exit code 1 means that no run was valid.

    $ pairs sweep --set shards=1,2 --set partitions=1,2 --plan keyed --repeat 3
    $ pairs sweep --target pyspark,bare --plan vectorized --drivers 1,2
    """
    from pairs.cli.render_sweep import carry_out
    from pairs.stages.generate import STORED, profile_for
    from pairs.stages.sweep import sweep_session

    suffix = VIRTUAL if generate else STORED
    chosen, points = profile_for(profile, "quick", flags, data), grid(flags)
    carry_out(sweep_session(chosen, points, run, repeat=repeat, output=output, data=data, suffix=suffix, master=master))
