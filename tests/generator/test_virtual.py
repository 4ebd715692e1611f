"""Tests of the tick format `virtual`: registered by the generator, read anywhere."""

import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pairs.config.workload import Workload, complete
from pairs.core.errors import BadInputError
from pairs.dataset.formats import FORMATS, VIRTUAL
from pairs.dataset.reader import parts_of, read_ticks
from pairs.generator.ticks import TickSource
from pairs.generator.virtual import recipe

TICKS = range(1_000, 3_000)


@pytest.fixture
def workload() -> Workload:
    """Return a market of ten seconds."""
    return complete({"duration": 10_000})


@pytest.fixture
def file(tmp_path: Path, workload: Workload) -> Path:
    """Write a virtual file."""
    path = tmp_path / "part-00000.virtual"
    with FORMATS[VIRTUAL].writer(path, recipe(workload, TICKS.start, TICKS.stop)) as target:
        for ticks, _ in TickSource(workload).draw(TICKS.start, TICKS.stop):
            target.write(ticks)
    assert target.rows == len(TICKS)
    return path


def test_a_file_draws_its_range_of_ticks(file: Path, workload: Workload) -> None:
    """The file has the recipe only, and the ticks are those of the source."""
    assert file.stat().st_size < 1_000
    drawn = pa.concat_tables(ticks for ticks, _ in TickSource(workload).draw(TICKS.start, TICKS.stop))
    assert pa.Table.from_batches(read_ticks(file)).to_pylist() == drawn.to_pylist()


def test_a_part_reads_in_a_fresh_process(file: Path) -> None:
    """An executor gets a pickled part, and needs no registry to read it."""
    pickled = pickle.dumps(parts_of(file))
    program = (
        "import pickle, sys; from pairs.dataset.reader import TickReader\n"
        "[part] = pickle.load(sys.stdin.buffer)\n"
        "print(sum(len(batch) for batch in TickReader().read(part)))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pickled, capture_output=True, check=True)
    assert int(done.stdout) == len(TICKS)


def test_stages_register_the_format() -> None:
    """Validating a virtual dataset imports nothing else of the generator."""
    program = (
        "from pairs.dataset.formats import FORMATS; assert 'virtual' not in FORMATS\n"
        "import pairs.stages.validate; assert 'virtual' in FORMATS\n"
        "import sys; assert 'scipy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_damaged_file_is_refused(file: Path) -> None:
    """By name, with the field."""
    file.write_text(file.read_text().replace('"end_tick"', '"end_tock"'))
    with pytest.raises(BadInputError, match=r"part-00000\.virtual: end_tick: Field required; generate the dataset"):
        list(read_ticks(file))
