# SPDX-License-Identifier: GPL-2.0
"""Captures: records of what happens in the SANs of this namespace, by a pwmon device."""
from __future__ import annotations

import itertools
import os
import select
import socket
import struct
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .stations import _iproute, _run

KINDS = ("", "message", "ring", "cell")
DIRECTIONS = ("", "in", "out", "dropped")
UNITS = ("station", "interface", "input unit", "output unit", "AAL unit", "half-router")
_HEADER = struct.Struct(">BBBxIIQ")
_ETH_P_ALL, _SO_TIMESTAMPNS, _SO_RCVBUFFORCE, _LINKTYPE = 3, 35, 33, 147
_BUFFER, _RECORD = 8 << 20, 257 << 10
_numbers = itertools.count()


@dataclass(frozen=True)
class Record:
    """A message, ring packet or cell at one unit; `time` is virtual, `wall` is in nanoseconds."""

    kind: str
    direction: str
    san: int
    unit_kind: str
    unit: int
    time: int
    wall: int
    data: bytes
    raw: bytes

    @classmethod
    def parse(cls, raw: bytes, wall: int = 0) -> Record:
        """A record as a packet socket gives it.

        >>> Record.parse(bytes.fromhex("0102020000000000 01000003 0000000000000007") + b"x").unit
        3
        """
        if len(raw) < _HEADER.size:
            raise ValueError("a record has a header of 20 bytes")
        version, kind, direction, san, unit, time = _HEADER.unpack_from(raw)
        if version != 1 or not 0 < kind < len(KINDS) or direction >= len(DIRECTIONS) or unit >> 24 >= len(UNITS):
            raise ValueError("not a record of this version")
        return cls(KINDS[kind], DIRECTIONS[direction], san, UNITS[unit >> 24], unit & 0xffffff, time, wall,
                   raw[_HEADER.size:], raw)


class Capture:
    """Records from now on, until it is closed; `cells` gives many.

    with Capture() as capture:
        ring.add()
        for record in capture.read(8, timeout=10): print(record.unit, record.time)
    """

    def __init__(self, *, ring: bool = True, cells: bool = False) -> None:
        self.name = f"pwmon-py{os.getpid()}.{next(_numbers)}"[:15]
        self._ip = _iproute()
        self._socket: socket.socket | None = None
        try:
            _run(self.name, self._ip.link, "add", ifname=self.name, kind="pwmon", pwmon_ring=int(ring), pwmon_cells=int(cells))
            self._index = self._ip.link_lookup(ifname=self.name)[0]
            try:
                _run(self.name, self._ip.link, "set", index=self._index, state="up")
                self._socket = self._open()
            except BaseException:
                self._ip.link("del", index=self._index)
                raise
        except BaseException:
            self._ip.close()
            raise

    def _open(self) -> socket.socket:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        s.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
        s.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        s.bind((self.name, _ETH_P_ALL))
        s.setblocking(False)
        return s

    def _own(self) -> socket.socket:
        if self._socket is None:
            raise ValueError("the capture is closed")
        return self._socket

    def fileno(self) -> int:
        """For select() and poll()."""
        return self._own().fileno()

    def _next(self) -> Record | None:
        try:
            raw, control, _, _ = self._own().recvmsg(_RECORD, 256)
        except BlockingIOError:
            return None
        wall = 0
        for level, kind, data in control:
            if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("@ll", data[:struct.calcsize("@ll")])
                wall = seconds * 1000000000 + nanoseconds
        return Record.parse(raw, wall)

    def read(self, count: int = 1, timeout: float | None = None) -> list[Record]:
        """`count` records; fewer if none arrives for `timeout` seconds."""
        out: list[Record] = []
        while len(out) < count:
            record = self._next()
            if record is not None:
                out.append(record)
            elif not select.select([self], [], [], timeout)[0]:
                break
        return out

    def __iter__(self) -> Iterator[Record]:
        while True:
            yield from self.read()

    async def __aiter__(self) -> AsyncIterator[Record]:
        import asyncio

        loop = asyncio.get_running_loop()
        while True:
            record = self._next()
            if record is not None:
                yield record
                continue
            ready = loop.create_future()
            loop.add_reader(self.fileno(), lambda f=ready: f.done() or f.set_result(None))
            try:
                await ready
            finally:
                loop.remove_reader(self.fileno())

    def close(self) -> None:
        """Remove the device."""
        if self._socket is None:
            return
        self._socket.close()
        self._socket = None
        self._ip.link("del", index=self._index)
        self._ip.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def columns(records: Iterable[Record]) -> dict[str, list[Any]]:
    """Records as columns for numpy or pandas."""
    names = ("kind", "direction", "san", "unit_kind", "unit", "time", "wall", "data")
    rows = list(records)
    return {n: [getattr(r, n) for r in rows] for n in names}


def save(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """A pcap file that Wireshark and `pwctl view` read."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, _RECORD, _LINKTYPE))
        f.writelines(struct.pack("<IIII", r.wall // 1000000000, r.wall % 1000000000, len(r.raw), len(r.raw)) + r.raw
                     for r in records)
