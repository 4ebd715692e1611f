"""Runs the command line with `python -m pairs.cli`."""

from pairs.cli.app import main

if __name__ == "__main__":
    main()
