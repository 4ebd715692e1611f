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
            app = HERE / "apps" / f"{name}-{plan}"
            translate(HERE / "strategies.xml", target, plan, app)
            for jar in app.glob("*.jar"):  # made from the sources beside it
                jar.unlink()


if __name__ == "__main__":
    main()
