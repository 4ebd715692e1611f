"""Renders pages: templates, style and script of the kit, plotly.js and the data, all in one file without a network."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pairs import __version__

_SCRIPTS = ("data.js", "plotting.js", "charts.js", "tables.js", "strategy.js", "page.js")  # joined to a script
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def render(template: str, title: str, payload: dict[str, Any], context: dict[str, Any]) -> str:
    """Render a page; whatever comes from data is escaped."""
    from plotly.offline import get_plotlyjs

    plotly, script = get_plotlyjs(), "\n".join(map(_own, _SCRIPTS))
    page = _environment().get_template(f"report/{template}")
    return page.render(
        title=title,
        kit_version=__version__,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        policy=Markup(policy([plotly, script])),  # noqa: S704 - hashes only
        style=Markup(_own("report.css")),  # noqa: S704 - the kit's own
        plotly=Markup(plotly),  # noqa: S704 - as the package ships it
        script=Markup(script),  # noqa: S704 - the kit's own
        payload=Markup(embedded(payload)),  # noqa: S704 - escaped for a script element
        **context,
    )


def embedded(payload: dict[str, Any]) -> str:
    """Return data as JSON that cannot end the element it stands in."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    for letter, escape in _UNSAFE.items():
        text = text.replace(letter, escape)
    return text


def policy(scripts: list[str]) -> str:
    """Return what the browser is told to allow: these scripts, inline style, pictures that charts make; no network."""
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _own(name: str) -> str:
    return (files("pairs") / "templates" / "report" / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("pairs"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
