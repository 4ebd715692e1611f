"""The facts about this machine that matter for comparing runs, as far as the system tells them."""

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import psutil

from pairs.core.affinity import usable_cores
from pairs.run_folder.records import Environment

_LIBRARIES = ("numpy", "pyarrow", "pandas")
_CPUINFO = Path("/proc/cpuinfo")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_MAKERS = (Path("/sys/class/dmi/id/sys_vendor"), Path("/sys/class/dmi/id/product_name"))
_DETECTOR = "systemd-detect-virt"


def environment() -> Environment:
    return Environment(
        system=platform.platform(),
        processor=_cpu_field("model name") or platform.processor(),
        cores=os.cpu_count(),
        memory_bytes=psutil.virtual_memory().total,
        versions={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        affinity=usable_cores(),
        load_average=_load_average(),
        governor=_content(_GOVERNOR),
        virtualized=_virtualized(),
    )


def _load_average() -> float | None:
    with suppress(OSError):
        return round(os.getloadavg()[0], 2)
    return None


def _virtualized() -> str | None:
    """Return the name of the hypervisor, "none" on bare metal, or None if the system does not tell."""
    detector = shutil.which(_DETECTOR)
    if detector is not None:
        done = subprocess.run([detector, "--vm"], capture_output=True, text=True, check=False)  # noqa: S603 - found
        return done.stdout.strip() or None
    flags = _cpu_field("flags")
    if flags is None:
        return None
    if "hypervisor" not in flags.split():
        return "none"
    return next(filter(None, map(_content, _MAKERS)), "unknown hypervisor")


def _cpu_field(name: str) -> str | None:
    lines = (_content(_CPUINFO) or "").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def _content(file: Path) -> str | None:
    try:
        return file.read_text().strip() or None
    except OSError:
        return None
