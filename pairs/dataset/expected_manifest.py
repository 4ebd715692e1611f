"""expected/expected.json: the inputs from which the expected answers of a dataset were computed."""

from pairs.core.records import Model, Record


class InputDigests(Model):
    """Digests of the replayed ticks and strategies."""

    ticks: str
    strategies: str


class FileStamp(Model):
    """Size and times of a file. Any change of the file changes at least one of them."""

    size: int
    mtime_ns: int
    ctime_ns: int


class ExpectedManifest(Record):
    """The content of expected.json."""

    FORMAT = 2  # raised by any change of the computation
    REMEDY = "compute the expected answers again"

    digests: InputDigests
    ticks: int
    strategies: int
    answers: dict[str, int]  # by stream
    files: dict[str, FileStamp]  # inputs and outputs
