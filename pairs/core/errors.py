"""The errors of the kit: libraries raise them, the command line prints each as one line."""


def one_line(message: str) -> str:
    """Return a message as one line without control characters, whatever names from data or disk are in it."""
    line = " ".join(message.split())
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


class PairsError(Exception):
    """Something the user can read and act on; printed as one line, exit code 1."""

    exit_code = 1


class BadInputError(PairsError):
    """The input is at fault: the message names the place and the remedy; exit code 2."""

    exit_code = 2
