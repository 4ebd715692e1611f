"""The processes of a run, and what is recorded of them while it lasts. Whatever happens, none is left behind."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from pairs.core.errors import BadInputError, PairsError
from pairs.core.interrupts import guarded_context
from pairs.core.progress import waiting
from pairs.harness.machine import MachineSampler
from pairs.harness.processes import Processes
from pairs.harness.resources import Role, Sampler
from pairs.harness.sink import finalize_answers
from pairs.harness.throughput import Throughput
from pairs.run_folder.folder import Run
from pairs.transport.base import Positions, Transport


class Recorder(AbstractContextManager["Recorder"]):
    """Follows a run. As a context it ends all processes, removes the transport and writes what was recorded.

    `role` tells what a process of the engine counts as. Without it somebody else started the engine: what its processes
    use is not recorded, and ticks consumed only if it told. `workers` are processes of the engine's cluster on this
    machine: they are not outside the run.
    """

    def __init__(self, run: Run, transport: Transport, role: Role | None = None, workers: Sequence[int] = ()) -> None:
        self.run, self.transport = run, transport
        self.processes, self.throughput = Processes(run), Throughput()
        self.sampler = Sampler() if role is None else Sampler(role)
        self._whole_run = role is not None
        self._machine = MachineSampler(whole_run=self._whole_run, workers=workers)

    def note(self, force: bool = False) -> Positions:
        """Note how far drivers and engine are."""
        positions = self.transport.positions()
        self.throughput.note(positions, force)
        return positions

    def sample(self) -> bool:
        """Sample the processes and the machine every second; return whether that was now."""
        if not self.sampler.due():
            return False
        self.sampler.sample(self.processes.pids())
        self._machine.sample()
        return True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end()
        try:
            self._write()
        except BadInputError as error:  # no input is at fault: it is the disk
            if kind is None:  # otherwise the reason is what counts
                raise PairsError(str(error)) from None

    @waiting("ending all processes")
    def _end(self) -> None:
        self.processes.end_all()
        self.transport.remove()  # before anything is written: if the disk is full, this makes room
        shutil.rmtree(self.run.checkpoint_folder, ignore_errors=True)

    @waiting("writing what was recorded")
    def _write(self) -> None:
        self.run.write_parquet(self.run.machine_file, self._machine.table())
        if self._whole_run:
            self.run.write_parquet(self.run.resources_file, self.sampler.table())
        if self._whole_run or self.throughput.engine_told:
            self.run.write_parquet(self.run.throughput_file, self.throughput.table())
        finalize_answers(self.run)


@guarded_context
def recording(run: Run, transport: Transport) -> Iterator[Recorder]:
    """Follow a run whose engine somebody else starts; nothing interrupts how it is ended and written."""
    with Recorder(run, transport) as recorder:
        yield recorder
