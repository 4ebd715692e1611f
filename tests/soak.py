"""`make soak`: ten minutes of a quick market at scale factor 10, in which the engine is killed every 20 to 40 seconds.

The run must come to its end with every answer there exactly once; how long each recovery took is printed. Give a number
as argument to kill at the same moments again.
"""

import json
import random
import shutil
import sys
from itertools import accumulate
from pathlib import Path

from pairs.cli import app as cli
from pairs.core.units import show_duration
from pairs.run_folder.folder import Run

MINUTES = 10
SPEED = 60
SETTLED_S = 20  # before the end, so that the last recovery is seen
RUN = Path("runs/soak")


def kills_s(seed: int) -> list[float]:
    """Return when to kill, in seconds of wall time: every 20 to 40 seconds."""
    dice = random.Random(seed)  # noqa: S311
    gaps = (dice.uniform(20, 40) for _ in range(3 * MINUTES))
    return [moment for moment in accumulate(gaps) if moment < 60 * MINUTES - SETTLED_S]


def main() -> None:
    """Play, kill, check; the exit code says whether nothing was lost."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1_000_000)
    kills = kills_s(seed)
    print(f"{len(kills)} kills in {MINUTES} minutes; to repeat them: python -m tests.soak {seed}", flush=True)
    faults = [word for one in kills for word in ("--fault", f"kill@{show_duration(round(one * 1000 * SPEED))}")]
    market = ["--profile", "quick", "--sf", "10", "--duration", f"{MINUTES * SPEED}m", "--data", "data/soak"]
    shutil.rmtree(RUN, ignore_errors=True)
    code = cli.run(["bench", *market, "--output", str(RUN), *faults])
    if not Run(RUN).score_file.is_file():
        sys.exit(code)
    score = json.loads(Run(RUN).score_file.read_text(encoding="utf-8"))
    recovery = score["recovery"] or {"class": "the run did not come to its end", "times_s": []}
    for kill, took in zip(kills, recovery["times_s"], strict=False):
        print(f"killed after {kill:5.1f} s, caught up {'never' if took is None else f'{took:4.1f} s later'}")
    whole = score["verdict"] == "PASSED" and len(recovery["times_s"]) == len(kills) and None not in recovery["times_s"]
    print(f"soak {'PASSED' if whole else 'FAILED'}: {recovery['class']}")
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
