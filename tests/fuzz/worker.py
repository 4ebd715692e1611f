"""Fuzzes readers in a process of its own, so that one that hangs, dies or takes all memory is found and named.

Prints a line of JSON for each finding and after every round. The files under test are in FOLDER/input until the next
ones are written: if this process dies, they are what killed it.
"""

import argparse
import faulthandler
import json
import resource
import shutil
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.contract import broken_by
from tests.fuzz.mutations import Files
from tests.fuzz.readers import READERS

INPUT = "input"
_ADDRESS_SPACE = 6 * 2**30  # what is asked for beyond that fails


class Fuzzing:
    """Lets a reader read one set of files after the other, and tells each finding, with the smallest files so far."""

    def __init__(self, reader: str, folder: Path, limit_s: float) -> None:
        self._name, self._folder, self._limit_s = reader, folder, limit_s
        self._reader = READERS[reader]
        self._sizes: dict[str, int] = {}  # of the files of each finding
        self.cases = 0

    def round(self, examples: int, number: int) -> None:
        """Try some examples, the same for the same number."""
        chosen = settings(
            max_examples=examples,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        seed(number)(chosen(given(self._reader.inputs)(self._try)))()
        _tell(reader=self._name, cases=self.cases)

    def _try(self, files: Files) -> None:
        write_files(self._folder / INPUT, files)
        faulthandler.dump_traceback_later(self._limit_s, exit=True)
        found = broken_by(self._reader.read, self._folder / INPUT)
        faulthandler.cancel_dump_traceback_later()
        self.cases += 1
        size = sum(map(len, files.values()))
        if found is not None and size < self._sizes.get(found.title, size + 1):
            place = self._folder / f"finding-{self.cases}"
            write_files(place, files)
            self._sizes[found.title] = size
            _tell(reader=self._name, cases=self.cases, title=found.title, text=found.text, files=str(place))


def write_files(folder: Path, files: Files) -> None:
    """Make a folder that has these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _tell(**told: Any) -> None:
    print(json.dumps(told), flush=True)


def main() -> None:
    """Fuzz each of the readers for some seconds, at least one round."""
    parser = argparse.ArgumentParser()
    parser.add_argument("readers", nargs="+", choices=READERS)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--examples", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--limit", type=float, required=True)
    chosen = parser.parse_args()
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    for name in chosen.readers:
        _tell(reader=name, cases=0)
        fuzzing = Fuzzing(name, chosen.folder, chosen.limit)
        end, number = time.monotonic() + chosen.seconds, chosen.seed
        fuzzing.round(chosen.examples, number)
        while time.monotonic() < end:
            number += 1
            fuzzing.round(chosen.examples, number)


if __name__ == "__main__":
    main()
