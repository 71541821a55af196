"""Plugins that tests compile: as a vendor would, with the public header alone."""

import os
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "framework" / "include"
MAP = INCLUDE / "sonde" / "plugin.map"
CC = shlex.split(os.environ.get("CC", "cc"))


def shared_object(source, target, *flags, include=INCLUDE, script=MAP, kind="collector"):
    """Compiles a plugin into the folder `target` under the name that the loader looks for; returns the file."""
    source = Path(source)
    target.mkdir(parents=True, exist_ok=True)
    output = target / f"{kind}-{source.stem}.so"
    link = [f"-Wl,--version-script={script}"] if script else []
    subprocess.run(
        [*CC, "-std=c17", "-O1", "-g", "-Wall", "-Wextra", "-fPIC", "-shared", f"-I{include}", *link, str(source),
         "-o", str(output), *flags],
        check=True, timeout=60)
    return output


def environment(folder):
    """The environment in which sonde looks into this folder first."""
    return {**os.environ, "SONDE_PLUGIN_PATH": str(folder)}
