# SPDX-License-Identifier: GPL-2.0
"""Labs: networks of namespaces from one file; pwctl makes them."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from .errors import PacketwayError

_HERE = Path(__file__).resolve().parent


def pwctl(*words: str) -> Any:
    """Run pwctl with -j; its output, or PacketwayError with what it said."""
    program = shutil.which("pwctl") or str(_HERE.parents[2] / "build/pwctl")
    done = subprocess.run([program, "-j", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PacketwayError({1: 22, 3: 110}.get(done.returncode, 5), "pwctl " + " ".join(words),
                             done.stderr.strip())
    return json.loads(done.stdout) if done.stdout.strip() else None


class LabStation:
    """A station of a lab; commands run in its namespaces."""

    def __init__(self, lab: str, name: str) -> None:
        self.lab, self.name = lab, name

    def run(self, *command: str, timeout: float | None = None) -> str:
        """Standard output of a command; PacketwayError if it fails."""
        program = shutil.which("pwctl") or str(_HERE.parents[2] / "build/pwctl")
        done = subprocess.run([program, "lab", "exec", f"{self.lab}/{self.name}", *command], capture_output=True,
                              text=True, check=False, timeout=timeout)
        if done.returncode:
            raise PacketwayError(5, " ".join(command), done.stderr.strip() or f"status {done.returncode}")
        return done.stdout

    def pwctl(self, *words: str) -> Any:
        """JSON of a pwctl command there."""
        return json.loads(self.run("pwctl", "-j", *words) or "null")

    def add(self) -> int:
        """The sum over the ring."""
        return int(self.pwctl("aton", "add")[0]["value"])

    def set(self, value: int, reg: int = 0) -> None:
        """This station's operand."""
        self.run("pwctl", "aton", "set", str(value), "reg", str(reg))


class Lab:
    """A lab that is up inside the block, and down after it.

    >>> with Lab("Documentation/labs/ring8.yaml") as lab:
    ...     lab["s1"].add()
    """

    def __init__(self, file: str | os.PathLike[str], timeout: float = 60.0) -> None:
        import yaml

        self.file, self._timeout = os.fspath(file), timeout
        self.name = str(yaml.safe_load(Path(self.file).read_text())["lab"])

    def __enter__(self) -> Lab:
        pwctl("lab", "up", self.file, "timeout", str(int(self._timeout * 1000)))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        pwctl("lab", "down", self.name)

    def __getitem__(self, name: str) -> LabStation:
        if name not in self.names():
            raise KeyError(name)
        return LabStation(self.name, name)

    def __iter__(self) -> Iterator[LabStation]:
        return (LabStation(self.name, n) for n in self.names())

    def names(self) -> Sequence[str]:
        """Names of its stations."""
        rows: list[Any] = pwctl("lab", "show", self.name) or []
        return [str(r.get("station", r.get("name"))) for r in rows]
