# SPDX-License-Identifier: GPL-2.0
"""Commands that the ring of a SAN executes, through /dev/packetway."""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

from . import _lib, address
from .errors import PacketwayError, RingError, check

SIGNED, COMPARAND, PREFIX = 1, 2, 4
OVERFLOW = 1
SORT_MAX = 65536
PARTIAL = 1
# enum packetway_aton_reason
REASONS = {1: "no route", 2: "no answer in time", 3: "ring error"}


@dataclass(frozen=True)
class RingResult:
    """What came back; `value`, `addr` and `count` as the operation has them."""

    op: str
    value: int | None
    addr: int | None
    count: int | None
    interfaces: int
    overflow: bool
    wait: int
    ring_bits: int


@dataclass(frozen=True)
class TreeResult:
    """What came back from the rings of `sans` SANs; `missing` ones are not in it. `san`: that of `addr`."""

    op: str
    value: int | None
    addr: int | None
    san: int | None
    count: int | None
    interfaces: int
    overflow: bool
    sans: int
    missing: int


@dataclass(frozen=True)
class Latch:
    """What the last command with `prefix` left: results over the `place` interfaces `before` this one, and `with_` it."""

    op: str
    source: int
    place: int
    before: int
    with_: int
    overflow: bool
    runs: int


@dataclass(frozen=True)
class Bank:
    """The register bank of a station's interface, as `pwctl aton show` has it."""

    ifname: str
    addr: int
    interfaces: int
    group: int
    standing: bool
    status: int
    counter: int
    v1: int
    v2: int
    ring_time: int
    operands: tuple[int, ...]


def _signed(value: int, on: bool) -> int:
    return value - (1 << 64) if on and value >> 63 else value


class Ring:
    """The ring as one station sees it.

    >>> with Ring("pw0") as ring:
    ...     ring[0] = 40
    ...     ring.add().value
    """

    def __init__(self, station: str) -> None:
        self._lib = _lib.packetway()
        self._s = ctypes.c_void_p()
        self.station = station
        check(self._lib.pwl_open(ctypes.byref(self._s), station.encode()), station)

    def close(self) -> None:
        """End the session."""
        if self._s:
            self._lib.pwl_close(self._s)
            self._s = ctypes.c_void_p()

    def __enter__(self) -> Ring:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def fileno(self) -> int:
        """For select and asyncio: readable when a submitted command has ended."""
        return int(self._lib.pwl_fd(self._s))

    # operands
    def map(self) -> None:
        """Map the pages of operands and results: registers then cost no system call."""
        check(self._lib.pwl_map(self._s), self.station)

    def __setitem__(self, reg: int, value: int) -> None:
        check(self._lib.pwl_set(self._s, reg, value & (1 << 64) - 1), self.station)

    def __getitem__(self, reg: int) -> int:
        value = ctypes.c_uint64()
        check(self._lib.pwl_get(self._s, reg, ctypes.byref(value)), self.station)
        return value.value

    def set_group(self, mask: int) -> None:
        """Groups that this interface is in."""
        check(self._lib.pwl_set_group(self._s, mask), self.station)

    def bank(self) -> Bank:
        """Operands, and what the last command left."""
        b = _lib.Bank()
        check(self._lib.pwl_bank(self._s, ctypes.byref(b)), self.station)
        return Bank(self.station, b.out_id, b.out_interfaces, b.out_group, bool(b.out_irq_mask & 1), b.out_status, b.out_counter,
                    b.out_v1, b.out_v2, b.out_ring_time, tuple(b.out_operand))

    # commands
    def _command(self, op: str, reg: int, signed: bool, region: address.Address | None, comparand: int | None,
                 timeout: float) -> _lib.Aton:
        code = check(self._lib.pwl_aton_op_parse(op.encode()), f"ring operation '{op}'")
        mods = (SIGNED if signed else 0) | (0 if comparand is None else COMPARAND)
        return _lib.Aton(op=code, reg=reg, mods=mods, dst=0 if region is None else address.parse(region),
                         comparand=(comparand or 0) & (1 << 64) - 1, timeout_ms=int(timeout * 1000))

    def _check(self, err: int, r: _lib.Result) -> int:
        if err < 0 and r.error:
            raise RingError(-err, self.station, self._lib.pwl_aton_strerror(r.error).decode())
        return check(err, self.station)

    @staticmethod
    def _result(op: str, signed: bool, r: _lib.Result) -> RingResult:
        counts, extreme, plain = op.startswith("count-"), op in ("max", "min"), op in ("sort", "majority")
        return RingResult(op, None if counts or plain else _signed(r.v1, signed), r.v2 if extreme else None,
                          r.v2 if counts else None, r.counter, bool(r.flags & OVERFLOW), r.wait, r.ring_bits)

    def run(self, op: str, reg: int = 0, *, signed: bool = False, region: address.Address | None = None,
            comparand: int | None = None, prefix: bool = False, timeout: float = 10.0) -> RingResult:
        """One command: add, and, or, max, min, count-eq, count-lt or count-le.

        `prefix`: each interface latches what passes it, see latch().
        """
        c, r = self._command(op, reg, signed, region, comparand, timeout), _lib.Result()
        c.mods |= PREFIX if prefix else 0
        self._check(self._lib.pwl_aton(self._s, ctypes.byref(c), ctypes.byref(r)), r)
        return self._result(op, signed, r)

    def latch(self, reg: int = 0, *, signed: bool = False) -> Latch | None:
        """What this station has latched of a register; None: nothing yet."""
        k = _lib.Latch()
        if not check(self._lib.pwl_aton_latch(self._s, reg, ctypes.byref(k)), self.station):
            return None
        op = self._lib.pwl_aton_op_name(k.op).decode()
        signed = signed and not op.startswith("count-")
        return Latch(op, k.src, k.counter, _signed(k.before, signed), _signed(k.with_, signed), bool(k.flags & OVERFLOW), k.runs)

    def run_tree(self, op: str, reg: int = 0, *, signed: bool = False, comparand: int | None = None, sans: int = 0,
                 partial: bool = False, timeout: float = 5.0) -> TreeResult:
        """One command on the rings of all SANs that routers and trunks join.

        `sans`: how many there are at least. If some are missing, it fails, or with `partial` is the result of the others.
        """
        c, r = self._command(op, reg, signed, None, comparand, timeout), _lib.Reduced()
        err = self._lib.pwl_aton_reduce(self._s, ctypes.byref(c), PARTIAL if partial else 0, sans, ctypes.byref(r))
        if err < 0 and r.missing and not r.error:
            raise RingError(-err, self.station, f"{r.missing} of {r.missing + r.sans} SANs are missing: "
                            f"{REASONS.get(r.reason, 'unknown')}")
        self._check(err, _lib.Result(error=r.error))
        one = self._result(op, signed, _lib.Result(flags=r.flags, counter=r.counter, v1=r.v1, v2=r.v2))
        return TreeResult(op, one.value, one.addr, None if one.addr is None else r.san, one.count, one.interfaces,
                          one.overflow, r.sans, r.missing)

    def add(self, reg: int = 0, *, signed: bool = False) -> RingResult:
        """The sum of all operands: one ring packet for any number of stations."""
        return self.run("add", reg, signed=signed)

    def max(self, reg: int = 0, *, signed: bool = False) -> RingResult:
        """The largest operand, and whose it is."""
        return self.run("max", reg, signed=signed)

    def min(self, reg: int = 0, *, signed: bool = False) -> RingResult:
        """The smallest operand, and whose it is."""
        return self.run("min", reg, signed=signed)

    def sort(self, reg: int = 0, *, signed: bool = False, timeout: float = 10.0) -> list[int]:
        """All operands in order."""
        c, r = self._command("sort", reg, signed, None, None, timeout), _lib.Result()
        out = (ctypes.c_uint64 * SORT_MAX)()
        n = self._check(self._lib.pwl_aton_sort(self._s, ctypes.byref(c), out, SORT_MAX, ctypes.byref(r)), r)
        return [_signed(v, signed) for v in out[:n]]

    def majority(self, reg: int = 0, *, timeout: float = 10.0) -> int | None:
        """The value that more than half of the interfaces hold, or None."""
        c, r, v = _lib.Aton(reg=reg, timeout_ms=int(timeout * 1000)), _lib.Result(), ctypes.c_uint64()
        n = self._check(self._lib.pwl_aton_majority(self._s, ctypes.byref(c), ctypes.byref(v), ctypes.byref(r)), r)
        return v.value if n else None

    def tree(self, ops: Sequence[str | Sequence[str]], reg: int = 0, *, signed: bool = False,
             timeout: float = 10.0) -> RingResult:
        """An expression tree over 2^n interfaces: an operation for each of n heights, leaves first.

        A list in place of an operation has one for each node of that height, in the order of the leaves.
        """
        c, r = self._command("tree", reg, signed, None, None, timeout), _lib.Result()
        run, n = self._lib.pwl_aton_tree, len(ops)
        names = [op for op in ops if isinstance(op, str)]
        if len(names) < n:
            run, names = self._lib.pwl_aton_tree_nodes, []
            for h, op in enumerate(ops):
                nodes = [op] * (1 << (n - 1 - h)) if isinstance(op, str) else list(op)
                if len(nodes) != 1 << (n - 1 - h):
                    raise ValueError(f"{len(nodes)} operations at height {h + 1}, which has {1 << (n - 1 - h)} nodes")
                names += nodes
        codes = bytes(check(self._lib.pwl_aton_op_parse(op.encode()), f"ring operation '{op}'") for op in names)
        self._check(run(self._s, ctypes.byref(c), codes, n, ctypes.byref(r)), r)
        return self._result("tree", signed, r)

    def watch(self, op: str, reg: int = 0, *, signed: bool = False, comparand: int | None = None, period: float = 0.001,
              timeout: float | None = None) -> Iterator[RingResult]:
        """Results of a standing command whenever they change; ends if none comes for `timeout` seconds."""
        r = _lib.Result()
        self.stand(op, reg, signed=signed, comparand=comparand, period=period)
        try:
            wait = -1 if timeout is None else int(timeout * 1000)
            while check(self._lib.pwl_aton_results(self._s, ctypes.byref(r), 1, wait), self.station):
                if r.error:
                    raise RingError(5, self.station, self._lib.pwl_aton_strerror(r.error).decode())
                yield self._result(op, signed, r)
        finally:
            self._lib.pwl_aton_unstand(self._s)

    def stand(self, op: str, reg: int = 0, *, signed: bool = False, comparand: int | None = None,
              period: float = 0.001) -> None:
        """The interface runs a command by itself until unstand(); `standing` reads the newest result."""
        c = self._command(op, reg, signed, None, comparand, 0)
        check(self._lib.pwl_aton_stand(self._s, ctypes.byref(c), int(period * 1000000)), self.station)

    def unstand(self) -> None:
        """End the standing command."""
        check(self._lib.pwl_aton_unstand(self._s), self.station)

    def standing(self, op: str, *, signed: bool = False) -> tuple[RingResult, int] | None:
        """From the page of results, after map(): the newest result of `stand(op)` and the number of runs."""
        r, runs = _lib.Result(), ctypes.c_uint64()
        if not check(self._lib.pwl_standing(self._s, ctypes.byref(r), ctypes.byref(runs)), self.station):
            return None
        if r.error:
            raise RingError(5, self.station, self._lib.pwl_aton_strerror(r.error).decode())
        return self._result(op, signed, r), runs.value

    async def run_async(self, op: str, reg: int = 0, *, signed: bool = False,
                        comparand: int | None = None) -> RingResult:
        """The same without blocking the event loop; one command at a time for each Ring."""
        import asyncio

        c, r = self._command(op, reg, signed, None, comparand, 0), _lib.Result()
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.fileno(), ready.set)
        try:
            check(self._lib.pwl_aton_submit(self._s, ctypes.byref(c), 1), self.station)
            while not check(self._lib.pwl_aton_results(self._s, ctypes.byref(r), 1, 0), self.station):
                await ready.wait()
                ready.clear()
        finally:
            loop.remove_reader(self.fileno())
        if r.error:
            raise RingError(5, self.station, self._lib.pwl_aton_strerror(r.error).decode())
        return self._result(op, signed, r)


def operands(station: str, values: Sequence[int]) -> None:
    """Store several operand registers of a station at once."""
    with Ring(station) as ring:
        for reg, value in enumerate(values):
            ring[reg] = value


__all__ = ["Bank", "PacketwayError", "Ring", "RingError", "RingResult", "operands"]
