"""`make fuzz`: fuzzes every reader for its share of FUZZ_MINUTES; `python -m tests.fuzz FOLDER` replays a finding."""

import os
import secrets
import sys
import time
from pathlib import Path

from tests.fuzz.contract import broken_by
from tests.fuzz.readers import READERS
from tests.fuzz.runner import Budget, Result, fuzz_for
from tests.fuzz.worker import INPUT


def main() -> int:
    """Return 1 if there were findings."""
    chosen = sys.argv[1:] or list(READERS)
    if (Path(chosen[0]) / INPUT).is_dir():
        return _replay(Path(chosen[0]))
    minutes = float(os.environ.get("FUZZ_MINUTES", "10"))
    seed = int(os.environ.get("FUZZ_SEED", secrets.randbelow(10**9)))
    print(f"fuzzing {len(chosen)} readers for {minutes:g} minutes with FUZZ_SEED={seed}", flush=True)
    results: dict[str, Result] = {}
    end = time.monotonic() + 60 * minutes
    for number, name in enumerate(chosen):
        share_s = max(0.0, end - time.monotonic()) / (len(chosen) - number)
        results[name] = fuzz_for(name, Budget(share_s, seed=seed))
        print(f"{number + 1}/{len(chosen)} {name}", flush=True)
    for name, result in results.items():
        print(f"{name:16} {result.cases:8,} cases {len(result.findings):4} findings")
        for title, folder in result.findings.items():
            print(f"    {title}: {folder}")
    return 1 if any(result.findings for result in results.values()) else 0


def _replay(folder: Path) -> int:
    """Let the reader of a finding, which names its folder, read its files again."""
    name = folder.resolve().parent.name
    found = broken_by(READERS[name].read, folder / INPUT)
    print(found.text if found else f"{name}: keeps the contract")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
