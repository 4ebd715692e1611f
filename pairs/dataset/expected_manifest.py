"""expected/expected.json: what the expected answers of a dataset were computed from."""

from pairs.core.records import Model, Record


class InputDigests(Model):
    """Digests of what was replayed."""

    ticks: str
    strategies: str


class FileStamp(Model):
    """Size and times of a file. No change leaves them all as they were, not even one by hand."""

    size: int
    mtime_ns: int
    ctime_ns: int


class ExpectedManifest(Record):
    """What expected.json says."""

    FORMAT = 2  # any change of what is computed raises it
    REMEDY = "compute the expected answers again"

    digests: InputDigests
    ticks: int
    strategies: int
    answers: dict[str, int]  # by stream
    files: dict[str, FileStamp]  # inputs and outputs
