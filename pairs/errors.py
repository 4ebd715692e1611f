"""The errors of the kit: libraries raise them, the command line prints them as one line."""


class PairsError(Exception):
    """Something the user can read and act on; printed as one line, exit code 1."""

    exit_code = 1


class BadInputError(PairsError):
    """The input is at fault: the message names the place and the remedy; exit code 2."""

    exit_code = 2
