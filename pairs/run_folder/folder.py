"""A run on disk: the folder that a run fills with its answers, and that is validated, scored and reported on."""

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from pairs.core.errors import BadInputError
from pairs.core.files import atomic_write
from pairs.dataset.folder import Dataset, PathIn
from pairs.run_folder.records import InvalidRow, RunManifest, SinkRecord, ValidationRecord


@dataclass(frozen=True)
class Run:
    """The folder of a run. Nothing else in the kit knows its file names."""

    path: Path

    manifest_file = PathIn("run.json")
    strategies_file = PathIn("strategies.xml")  # a copy, so that the run stands for itself
    validation_file = PathIn("validation.json")
    sink_file = PathIn("sink.json")
    score_file = PathIn("score.json")
    report_file = PathIn("report.html")
    app_folder = PathIn("app")  # the translated program
    transport_folder = PathIn("transport")  # what the transport needs, while the run lasts
    checkpoint_folder = PathIn("checkpoint")  # what the engine keeps to survive a crash, while the run lasts
    resources_file = PathIn("resources.parquet")  # CPU and memory of all processes, second by second
    machine_file = PathIn("machine.parquet")  # what else the machine did, second by second
    throughput_file = PathIn("throughput.parquet")  # ticks produced and consumed, second by second
    progress_file = PathIn("progress.jsonl")  # what the engine reported, a JSON object a line: its batches, its memory

    def answers_file(self, stream: str) -> Path:
        return self.path / f"{stream}.parquet"

    def driver_file(self, driver: int) -> Path:
        return self.path / f"driver-{driver}.json"

    def send_delay_file(self, driver: int) -> Path:
        """Return the path of a driver's worst send delays, slot by slot."""
        return self.path / f"driver-{driver}.parquet"

    def log_file(self, part: str) -> Path:
        return self.path / "logs" / f"{part}.log"

    def incorrect_file(self, kind: str, stream: str) -> Path:
        return self.path / f"{kind}_{stream}.csv"

    @property
    def is_scored(self) -> bool:
        return self.score_file.is_file()

    @property
    def manifest(self) -> RunManifest:
        refuse_foreign_link(self.path)
        try:
            return RunManifest.read(self.manifest_file)
        except FileNotFoundError:
            raise BadInputError(f"{self.path}: not a run, as it has no run.json; give the folder of a run") from None

    @property
    def validation(self) -> ValidationRecord:
        try:
            return ValidationRecord.read(self.validation_file)
        except FileNotFoundError:
            raise BadInputError(f"{self.path}: not validated yet; call 'pairs validate {self.path}' first") from None

    def repeated_answers(self) -> dict[str, int]:
        """Return how many answers the sink dropped as repetitions, by stream."""
        return {} if self.sink_record is None else self.sink_record.repeated_rows

    def invalid_answers(self) -> dict[str, tuple[InvalidRow, ...]]:
        """Return what was sent to the sink as an answer and could not be read, by stream."""
        return {} if self.sink_record is None else self.sink_record.invalid_rows

    @property
    def sink_record(self) -> SinkRecord | None:
        """The content of sink.json; None for answers of another engine, not recorded by our sink."""
        try:
            return SinkRecord.read(self.sink_file)
        except FileNotFoundError:
            return None

    def dataset(self) -> Dataset:
        return Dataset(self.path / self.manifest.dataset)

    def refuse_other_inputs(self, dataset: Dataset) -> None:
        """Refuse a dataset or strategy set that is not the one of this run; what is gone is not compared."""
        manifest, known = self.manifest, dataset.optional_manifest
        replayed = None if manifest.dataset_manifest is None else manifest.dataset_manifest.digest
        if known is not None and known.digest != replayed:
            other = f"digest {known.digest[:16]}, the run {self.path} replayed {(replayed or 'none')[:16]}"
            raise BadInputError(f"{dataset.path}: is another dataset: {other}; restore it, or run it again")
        for file in (dataset.strategies_file, self.strategies_file):
            if file.is_file() and (digest := digest_of(file)) != manifest.strategies_digest:
                other = f"digest {digest[:16]}, the run {self.path} had {manifest.strategies_digest[:16]}"
                raise BadInputError(f"{file}: is another strategy set: {other}; restore it, or run it again")

    def update_manifest(self, **changes: Any) -> RunManifest:
        """Change the manifest on disk: several processes of a run may have something to say."""
        manifest = self.manifest.model_copy(update=changes)
        manifest.write(self.manifest_file)
        return manifest

    def clear(self) -> None:
        """Remove all that is in the folder; the folder itself stays, as it may be locked."""
        for path in self.path.iterdir() if self.path.exists() else ():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def write_parquet(self, file: Path, table: pa.Table) -> None:
        with atomic_write(file) as partial:
            pq.write_table(table, partial)

    def write_csv(self, file: Path, table: pa.Table) -> None:
        with atomic_write(file) as partial:
            pa_csv.write_csv(table, partial)


def digest_of(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def refuse_foreign_link(path: Path) -> None:
    """Refuse a link to the folder of another user, who could change its content."""
    if path.is_symlink() and path.exists() and path.stat().st_uid != os.geteuid():
        raise BadInputError(f"{path}: is a link to a folder of another user; give the folder itself")


def new_run(path: Path, overwrite: bool) -> Run:
    """Make the folder of a run; an old run is replaced only with `overwrite`."""
    refuse_foreign_link(path)
    run = Run(path.resolve())
    refuse_existing_run(path, overwrite)
    try:
        run.clear()
        (run.path / "logs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
    return run


def refuse_existing_run(path: Path, overwrite: bool) -> None:
    """Refuse to write over anything but a run, and over that only with `overwrite`."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not overwrite:
        raise BadInputError(f"{path}: exists already; choose another folder, or give --overwrite to replace it")
    if not Run(path).manifest_file.is_file():
        raise BadInputError(f"{path}: exists and is not a run, so it is not overwritten; choose another folder")
