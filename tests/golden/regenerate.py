"""`make golden`: renders the golden programs again; review the diff as code."""

import shutil
from pathlib import Path

from pairs.translator import targets
from pairs.translator.translate import translate

HERE = Path(__file__).parent


def main() -> None:
    """Render every plan of every target for the golden strategies."""
    shutil.rmtree(HERE / "apps", ignore_errors=True)
    for name, target in targets.all_targets().items():
        for plan in target.plans:
            translate(HERE / "strategies.xml", target, plan, HERE / "apps" / f"{name}-{plan}")


if __name__ == "__main__":
    main()
