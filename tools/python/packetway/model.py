# SPDX-License-Identifier: GPL-2.0
"""Models without root and without a kernel: the same core sources as the module's."""
from __future__ import annotations

import ctypes
import json
import random
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

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


RELEASES = ("back", "appended")


def ring(op: str, operands: Sequence[int], *, signed: bool = False, comparand: int | None = None,
         engine: str = "fast", propagation: int = 0, ops: Sequence[str] = (), release: str = "back",
         width: int = 64, bitsum: int = 24) -> ModelResult:
    """One command on a ring with these operands, one interface for each.

    The last three are parameters of the ring, see `pwmodel aton --help`.

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
    if release not in RELEASES:
        raise ValueError(f"'{release}' is neither {' nor '.join(RELEASES)}")
    names = (ctypes.c_char_p * 3)(b"release", b"width", b"bitsum")
    chosen = (ctypes.c_uint32 * 3)(RELEASES.index(release), width, bitsum)
    err = _lib.core().pwc_ring_run_as(ctypes.byref(c), values, n, out, names, chosen, 3)
    if err:
        raise PacketwayError(-err, f"ring of {n}")
    if c.error:
        raise RingError(5, f"ring of {n}", ERRORS[c.error] if c.error < len(ERRORS) else str(c.error))

    def number(v: int) -> int:
        return v - (1 << 64) if signed and v >> 63 else v

    return ModelResult(op, number(c.v1), c.v2, c.counter, bool(c.flags & 1), c.ring_bits,
                       tuple(number(v) for v in out[:c.counter]) if op == "sort" else ())


def sweep(op: str, sizes: Sequence[int], *, engine: str = "fast", propagation: int = 0) -> dict[str, list[int]]:
    """The same command on rings of several sizes, as columns for numpy or pandas."""
    out: dict[str, list[int]] = {"interfaces": [], "ring_bits": [], "value": []}
    for n in sizes:
        r = ring(op, range(1, n + 1), engine=engine, propagation=propagation)
        out["interfaces"].append(n)
        out["ring_bits"].append(r.ring_bits)
        out["value"].append(r.v1)
    return out


TIMES = ("start", "segmented", "first_out", "first_in", "reassembled", "delivered", "acked")


def fabric(messages: Iterable[tuple[int, int, int, int]], *, engine: str = "fast", pack: bool = True,
           unpack: bool = True, machine: str = "device", **params: int) -> dict[str, list[int | None]]:
    """Messages (cycle, src, dst, bytes) through AAL units and the Clos network, as columns.

    A dst of -1 is all ports. Times are in cycles; `delivered` is None for a message that
    vanished unread. `pack` and `unpack`: sources and destinations do not idle. Parameters have
    the names of `pwmodel fabric`, with _ for -: depth=8, og_blocks=64,
    drop=1000, fault_seed=7.

    >>> fabric([(0, 0, 5, 40)])["src"]
    [0]
    """
    if engine not in ("fast", "rtl"):
        raise ValueError(f"'{engine}' is neither fast nor rtl")
    if machine not in ("device", "published"):
        raise ValueError(f"'{machine}' is neither device nor published")
    if engine == "fast" and not unpack:
        raise ValueError("the fast engine needs unpack")
    rows = list(messages)
    limit = (1 << 32) - 1
    if any(not (0 <= c < 1 << 62 and 0 <= s <= limit and -1 <= d < 1 << 31 and 0 <= b <= limit) for c, s, d, b in rows):
        raise ValueError("a message is (cycle, src, dst, bytes)")
    if any(not 0 <= v <= limit for v in params.values()):
        raise ValueError("a parameter is a number of 32 bits")
    names = (ctypes.c_char_p * len(params))(*(k.replace("_", "-").encode() for k in params))
    values = (ctypes.c_uint32 * len(params))(*params.values())
    c = _lib.CoreFabric(fast=engine == "fast", pack=pack, unpack=unpack, published=machine == "published",
                        nparams=len(params), names=names, values=values)
    m = (_lib.CoreMessage * len(rows))(*(_lib.CoreMessage(*r) for r in rows))
    err = _lib.core().pwc_fabric_run(ctypes.byref(c), m, len(rows))
    if err:
        raise PacketwayError(-err, "fabric", f"parameter {c.wrong.decode()}" if c.wrong else "")
    out: dict[str, list[int | None]] = {k: [getattr(x, k) for x in m] for k in ("cycle", "src", "dst", "bytes") + TIMES}
    out["delivered"] = [x.delivered if x.arrived else None for x in m]
    return out


def uniform(load: float, cycles: int, *, size: int = 48, ports: int = 16, seed: int = 1) -> list[tuple[int, int, int, int]]:
    """Messages of `size` bytes from every port to others by chance, as `fabric` takes them.

    `load` is the part of the time in which a port has a byte to send, headers of cells aside.
    """
    if not 0 < load <= 1:
        raise ValueError("a load is more than 0 and at most 1")
    rng, out = random.Random(seed), []
    for src in range(ports):
        t = rng.expovariate(load / size)
        while t < cycles:
            dst = rng.randrange(ports - 1)
            out.append((int(t), src, dst + (dst >= src), size))
            t += rng.expovariate(load / size)
    return sorted(out)


def load_latency(loads: Sequence[float], *, cycles: int = 20000, size: int = 48, seed: int = 1,
                 **params: int) -> dict[str, list[float]]:
    """A sweep: mean and largest time from handing over to delivery for each load, as columns."""
    out: dict[str, list[float]] = {"load": [], "messages": [], "mean": [], "largest": []}
    for load in loads:
        k = params.get("k", 4)
        run = fabric(uniform(load, cycles, size=size, ports=k * k, seed=seed), engine="fast", pack=True, unpack=True,
                     machine="device", **params)
        took = [d - c for d, c in zip(run["delivered"], run["cycle"]) if d is not None and c is not None]
        out["load"].append(load)
        out["messages"].append(len(took))
        out["mean"].append(sum(took) / len(took) if took else float("nan"))
        out["largest"].append(max(took, default=0))
    return out


def network(spec: Mapping[str, Any], *, threads: int = 1) -> dict[str, Any]:
    """Fabrics joined by routers: what `pwmodel net` prints for a file with these members.

    >>> network({"sans": {"count": 2, "ports": 16}, "routers": {"topology": "full"},
    ...          "traffic": {"messages": [[1, 0, 3, 1, 4, 64]]}})["delivered"]
    1
    """
    # JSON is YAML
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        json.dump(spec, f)
        f.flush()
        done = subprocess.run([_lib.program("pwmodel"), "net", f.name, "--threads", str(threads)], check=False,
                              capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip().replace(f.name, "network"))
    out: dict[str, Any] = json.loads(done.stdout)
    return out


@dataclass(frozen=True)
class EspResult:
    """What a node did with an instruction, and the operands that it wrote."""

    verdict: str
    changed: dict[str, int]


class Esp:
    """A node with an ESP store; times are milliseconds and do not go back.

    >>> with Esp() as node:
    ...     node.run(0, "count", tag=7, thresh=2).verdict
    'forward'
    """

    def __init__(self, node: int = 1, *, lifetime: int = 10000, capacity: int = 4096) -> None:
        self._lib = _lib.core()
        if not (0 <= node < 1 << 64 and 0 < lifetime < 1 << 64 and 0 < capacity < 1 << 32):
            raise ValueError("a node, lifetime or capacity beyond the model")
        self._e: int | None = self._lib.pwc_esp_new(node, lifetime, capacity)
        if not self._e:
            raise PacketwayError(22, f"ESP store of {capacity}")

    def __enter__(self) -> Esp:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the store."""
        if self._e:
            self._lib.pwc_esp_free(self._e)
        self._e = None

    def _store(self) -> int:
        if not self._e:
            raise ValueError("the store is closed")
        return self._e

    def run(self, ms: int, name: str, op: str = "", **operands: int) -> EspResult:
        """One instruction; operands as in `pwmodel esp`: tag=7, fwdThresh=2."""
        code = self._lib.pwc_esp_opcode(name.encode())
        if code < 0:
            raise ValueError(f"'{name}' is not an instruction")
        oper = self._lib.pwc_esp_operator(code, op.encode())
        if oper < 0:
            raise ValueError(f"'{op}' is not an operator of {name}")
        fields, changed = (ctypes.c_uint64 * 16)(), ctypes.c_uint32()
        for key, value in operands.items():
            at = self._lib.pwc_esp_field(code, key.encode())
            if at < 0:
                raise ValueError(f"{name} has no operand {key}")
            fields[at] = value
        verdict = self._lib.pwc_esp_exec(self._store(), ms, code, oper, fields, ctypes.byref(changed))
        if verdict < 0:
            raise ValueError(f"{ms}: time does not go back")
        return EspResult(self._lib.pwc_esp_verdict(verdict).decode(),
                         {self._lib.pwc_esp_field_name(i).decode(): fields[i] for i in range(16) if changed.value >> i & 1})

    def put(self, ms: int, tag: int, value: int) -> bool:
        """Bind a value; False: the store is full."""
        err: int = self._lib.pwc_esp_put(self._store(), ms, tag, value)
        if err == -22:
            raise ValueError(f"{ms}: time does not go back")
        return not err

    def get(self, ms: int, tag: int) -> int | None:
        """The value of a tag, None if there is none or its lifetime is over."""
        value = ctypes.c_uint64()
        got: int = self._lib.pwc_esp_get(self._store(), ms, tag, ctypes.byref(value))
        if got < 0:
            raise ValueError(f"{ms}: time does not go back")
        return value.value if got else None
