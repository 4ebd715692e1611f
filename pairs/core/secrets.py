"""Keeps secrets out of what is shown and recorded."""

from collections.abc import Sequence

SECRET_FLAG = "--kafka"  # noqa: S105 - before KEY=VALUE, whose value may be a secret


def without_secrets(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command line without the values of settings that may be secrets."""
    return tuple(_hidden(before, word) for before, word in zip(("", *command), command, strict=False))


def _hidden(before: str, word: str) -> str:
    flag = f"{SECRET_FLAG}="
    given = word.removeprefix(flag) if word.startswith(flag) else word
    if given == word and before != SECRET_FLAG:
        return word
    return f"{word[: -len(given)]}{given.partition('=')[0]}=..."
