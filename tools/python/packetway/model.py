# SPDX-License-Identifier: GPL-2.0
"""Models without root and without a kernel: the same core sources as the module's."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from . import _lib
from .errors import PacketwayError, RingError

OPS = {"add": 1, "and": 2, "or": 3, "max": 4, "min": 5, "count-eq": 6, "count-lt": 7, "count-le": 8, "sort": 16,
       "tree": 18}
ERRORS = ("", "crc", "lost", "down", "shape", "room")


@dataclass(frozen=True)
class ModelResult:
    """What a ring of the model computed, and how long it took."""

    op: str
    v1: int
    v2: int
    counter: int
    overflow: bool
    ring_bits: int
    sorted: Sequence[int] = ()


def ring(op: str, operands: Sequence[int], *, signed: bool = False, comparand: Optional[int] = None,
         engine: str = "fast", propagation: int = 0, ops: Sequence[str] = ()) -> ModelResult:
    """One command on a ring with these operands, one interface for each.

    >>> ring("max", [3, 9, 4]).v1
    9
    """
    if op not in OPS:
        raise ValueError(f"'{op}' is not one of {', '.join(OPS)}")
    if engine not in ("fast", "rtl"):
        raise ValueError(f"'{engine}' is neither fast nor rtl")
    n, mask = len(operands), (1 << 64) - 1
    if not n:
        raise ValueError("a ring has at least one interface")
    if op == "tree" and n != 1 << len(ops):
        raise ValueError(f"{len(ops)} heights for {n} operands")
    c = _lib.CoreCommand(engine=engine == "rtl", propagation=propagation, op=OPS[op],
                         mods=(1 if signed else 0) | (0 if comparand is None else 2), heights=len(ops),
                         comparand=(comparand or 0) & mask)
    c.ops[:len(ops)] = [OPS[o] for o in ops]
    values, out = (ctypes.c_uint64 * n)(*(v & mask for v in operands)), (ctypes.c_uint64 * n)()
    err = _lib.core().pwc_ring_run(ctypes.byref(c), values, n, out)
    if err:
        raise PacketwayError(-err, f"ring of {n}")
    if c.error:
        raise RingError(5, f"ring of {n}", ERRORS[c.error] if c.error < len(ERRORS) else str(c.error))

    def number(v: int) -> int:
        return v - (1 << 64) if signed and v >> 63 else v

    return ModelResult(op, number(c.v1), c.v2, c.counter, bool(c.flags & 1), c.ring_bits,
                       tuple(number(v) for v in out[:c.counter]) if op == "sort" else ())


def sweep(op: str, sizes: Sequence[int], *, engine: str = "fast", propagation: int = 0) -> Dict[str, List[int]]:
    """The same command on rings of several sizes, as columns for numpy or pandas."""
    out: Dict[str, List[int]] = {"interfaces": [], "ring_bits": [], "value": []}
    for n in sizes:
        r = ring(op, range(1, n + 1), engine=engine, propagation=propagation)
        out["interfaces"].append(n)
        out["ring_bits"].append(r.ring_bits)
        out["value"].append(r.v1)
    return out
