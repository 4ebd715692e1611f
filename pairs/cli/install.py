"""pairs install."""

from typing import Annotated

import typer

from pairs.cli.layout import definitions, print_lines, width
from pairs.config.values import choice

_PACKAGES = choice("kafka")


def install(
    package: Annotated[
        str,
        typer.Argument(metavar="PACKAGE", help="kafka: a broker, and Spark's connector to Kafka.", show_default=False),
    ],
) -> None:
    """Install the jars that a transport needs into the user's cache folder, with Maven.

    Runs that need them do it, too, the first time. The connector has the version of PySpark where that can be
    resolved, else the nearest that works with it.
    """
    from pairs.core.jars import install_first
    from pairs.transport.kafka.jars import BROKER, connectors

    _PACKAGES.read(package, "PACKAGE")
    for candidates in ([BROKER], connectors()):
        found = install_first(candidates)
        print_lines(definitions([(found.name, f"{len(found.jars())} jars in {found.folder}")], width()))
        print_lines(definitions(list(found.versions.items()), width(), indent=2))
