# SPDX-License-Identifier: GPL-2.0
"""Messages of MPI programs, from traces in OTF2 (Score-P, TAU, Extrae), for the models.

python3 -m packetway.traces traces.otf2 >run.csv     # for pwmodel fabric --messages and sweeps

Debian's python3-otf2 reads the traces. Rank r is port r, and the time from the first message on is
in nanoseconds, one cycle each. Only point-to-point messages are taken: a trace has one event for
a whole collective operation and does not say which messages an MPI makes of it.
"""
from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .programs import Columns, columns


def otf2_messages(file: str | os.PathLike[str]) -> Columns:
    """Columns cycle, src, dst and bytes of the messages that the trace has as sent."""
    otf2: Any = importlib.import_module("otf2")
    rows: list[dict[str, int]] = []
    with otf2.reader.open(os.fspath(file)) as trace:
        # a rank is a process; its threads share the location group
        ranks: dict[Any, int] = {}
        for group in trace.definitions.groups:
            if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI:
                ranks = {location.group: rank for rank, location in enumerate(group.members)}
        for location, event in trace.events:
            if not isinstance(event, (otf2.events.MpiSend, otf2.events.MpiIsend)):
                continue
            members = getattr(getattr(event.communicator, "group", None), "members", None)
            if members is None:
                raise ValueError(f"{file}: a message between two groups of processes; those are not read")
            rows.append({"cycle": event.time * 1_000_000_000 // trace.timer_resolution, "src": ranks[location.group],
                         "dst": ranks[members[event.receiver].group], "bytes": event.msg_length})
    rows.sort(key=lambda row: (row["cycle"], row["src"]))
    for row in reversed(rows):
        row["cycle"] -= rows[0]["cycle"]
    return columns(rows)


def _main() -> int:
    if len(sys.argv) != 2:
        print("Usage: python3 -m packetway.traces FILE.otf2", file=sys.stderr)
        return 1
    try:
        table = otf2_messages(sys.argv[1])
    except ImportError:
        print("packetway.traces: python3-otf2 is not installed", file=sys.stderr)
        return 2
    except Exception as e:
        print(f"packetway.traces: {sys.argv[1]}: {e}", file=sys.stderr)
        return 2
    if not table:
        print(f"packetway.traces: {sys.argv[1]}: no message between two processes", file=sys.stderr)
        return 2
    print(",".join(table))
    for row in zip(*table.values()):
        print(",".join(map(str, row)))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
