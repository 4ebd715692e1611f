"""Where the command `pairs` begins, and `python -m pairs.cli`: handles signals before anything that takes time."""

import traceback
from contextlib import suppress

from pairs.core import interrupts


def main() -> None:
    """Run the command line and exit; no process outlives it."""
    interrupts.exit_on_signals()
    code = 1
    try:
        from pairs.cli.app import run

        interrupts.raise_on_signals()
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - a defect of the kit, shown in full
        with suppress(OSError):
            traceback.print_exc()
    finally:
        interrupts.leave(code)


if __name__ == "__main__":
    main()
