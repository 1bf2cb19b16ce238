# SPDX-License-Identifier: GPL-2.0
"""What only programs do: metrics, POETS applications, experiments. pwctl runs them."""
from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _lib
from .errors import PacketwayError

Columns = dict[str, list[Any]]
_ERRNO = {1: 22, 3: 110}
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)$")
_ESCAPED = {"n": "\n", "\\": "\\", '"': '"'}


def _pwctl(*words: str) -> str:
    """Standard output of pwctl; PacketwayError with what it said if it fails."""
    done = subprocess.run([_lib.program("pwctl"), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PacketwayError(_ERRNO.get(done.returncode, 5), "pwctl " + " ".join(words), done.stderr.strip())
    return done.stdout


def columns(rows: Iterable[dict[str, Any]]) -> Columns:
    """Rows as columns for numpy or pandas; None where a row has no such member."""
    kept = list(rows)
    names = dict.fromkeys(name for row in kept for name in row)
    return {name: [row.get(name) for row in kept] for name in names}


def _unescape(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[1])


@dataclass(frozen=True)
class Sample:
    """One value of `pwctl metrics`."""

    name: str
    labels: dict[str, str]
    value: float


def parse_metrics(text: str) -> list[Sample]:
    """Samples of a text in the format of Prometheus.

    >>> parse_metrics('packetway_san_ports{san="0"} 16')[0].value
    16.0
    """
    out = []
    for line in text.splitlines():
        found = None if not line or line.startswith("#") else _SAMPLE.match(line)
        if found:
            labels = {k: re.sub(r"\\(.)", _unescape, v) for k, v in _LABEL.findall(found[2] or "")}
            out.append(Sample(found[1], labels, float(found[3])))
    return out


def metrics(lab: str | None = None) -> list[Sample]:
    """Counters and levels of this namespace, or of a lab, with the names that Prometheus gets."""
    return parse_metrics(_pwctl("metrics", *(["lab", lab] if lab else [])))


@dataclass(frozen=True)
class PoetsRun:
    """What an application did: `end`, `devices`, `sent`, ... in `summary`; logs as (who, text)."""

    summary: dict[str, Any]
    logs: list[tuple[str, str]]
    reports: Columns


def poets_run(app: str | os.PathLike[str], timeout: int | None = None) -> PoetsRun:
    """Run a POETS application on stations; `timeout` in seconds, of the file unless given."""
    with tempfile.TemporaryDirectory() as tmp:
        reports = Path(tmp) / "reports.csv"
        lines = [json.loads(line) for line in _pwctl(
            "-j", "poets", "run", os.fspath(app), "csv", str(reports),
            *(["timeout", str(timeout)] if timeout is not None else [])).splitlines()]
        with open(reports, newline="") as f:
            rows = [{k: v if k in ("station", "address") else float(v) if k == "seconds" else int(v) for k, v in row.items()}
                    for row in csv.DictReader(f)]
    return PoetsRun(lines[-1], [(line["log"], line["text"]) for line in lines if "log" in line], columns(rows))


EXPERIMENTS = ("delay", "throughput", "contention", "queues")


def experiment(name: str, values: Sequence[int] = (), *, engine: str = "fast", machine: str | None = None) -> Columns:
    """A published measurement of the fabric beside ours; values are sizes or depths.

    >>> experiment("delay", [44])["ours"]
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"'{name}' is not one of {', '.join(EXPERIMENTS)}")
    return columns(json.loads(_pwctl("-j", "experiment", name, *map(str, values), "engine", engine,
                                     *(["machine", machine] if machine else []))))


def experiment_messages(file: str | os.PathLike[str], *, san: int | None = None) -> Columns:
    """Messages of a captured run: cycle, src, dst (-1: all ports) and bytes of each.

    The rows go into model.fabric(), which sends them through another fabric.
    """
    text = _pwctl("experiment", "messages", os.fspath(file), *(["san", str(san)] if san is not None else []))
    return columns({k: int(v) for k, v in row.items()} for row in csv.DictReader(text.splitlines()))


def experiment_sweep(file: str | os.PathLike[str], *, jobs: int = 1) -> Columns:
    """All runs of a sweep, as tools/experiments describes them."""
    with tempfile.TemporaryDirectory() as tmp:
        prefix = str(Path(tmp) / "sweep")
        _pwctl("experiment", "sweep", os.fspath(file), "out", prefix, "jobs", str(jobs))
        with open(prefix + ".csv", newline="") as f:
            return columns(csv.DictReader(f))
