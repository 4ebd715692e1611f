"""The errors of the kit: libraries raise them, the command line prints them as one line."""


def one_line(message: str) -> str:
    """Return a message as one line that steers no terminal, whatever names from data or disk are in it."""
    line = " ".join(message.split())
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)


class PairsError(Exception):
    """Something the user can read and act on; printed as one line, exit code 1."""

    exit_code = 1


class BadInputError(PairsError):
    """The input is at fault: the message names the place and the remedy; exit code 2."""

    exit_code = 2
