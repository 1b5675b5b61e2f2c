"""What the recorded numbers were measured on, in one line."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe_machine"]


def describe_machine() -> str:
    """Processor, cores, memory and the versions that matter."""
    info = Path("/proc/cpuinfo")
    models = [
        line.split(":", 1)[1].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "analogical"))
    return (
        f"{models[0] if models else platform.processor()}, {os.cpu_count()} cores, {memory:.0f} GiB;"
        f" Python {platform.python_version()}, {libraries}"
    )
