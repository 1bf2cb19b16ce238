# SPDX-License-Identifier: GPL-2.0
"""EEP messages: build, parse, send, receive, echo, trace; single ESP instructions."""
from __future__ import annotations

import ctypes
import errno
import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from . import _lib, address
from .errors import PacketwayError, check

PT_ECHO, ECHO_REQUEST, ECHO_REPLY = 1027, 1, 2
CRC32, CRC64, HOPS, STAMP = 1, 2, 4, 8
ESP_EXECUTE, ESP_EXEC_ON_REFLECT, ESP_ERROR, ESP_LOC_SHIFT = 1, 2, 4, 4
ESP_AT = ("any", "routers", "ends")
ESP_OPERANDS = {"count": ("tag", "thresh"), "compare": ("tag", "val"), "collect": ("val", "val_tag", "cnt_tag"),
                "rchld": ("sib_tag", "fwd_tag", "fwd_thresh", "pkt_id"),
                "rcollect": ("val", "sib_tag", "fwd_tag", "fwd_thresh", "comp_tag", "pkt_id")}
_MAX = 65536 + 4096


@dataclass(frozen=True)
class Message:
    """An EEP message; `pt` is its packet type, `te` the type extension."""

    dst: int
    pt: int
    te: int = 0
    data: bytes = b""
    src: int = 0
    prio: int = 0
    flags: int = 0
    crc_bad: bool = False
    hops: tuple[int, ...] = field(default=())
    stamp: int = 0

    def _struct(self) -> tuple[_lib.Eep, ctypes.Array[ctypes.c_char]]:
        data = ctypes.create_string_buffer(self.data, max(len(self.data), 1))
        return _lib.Eep(dst=self.dst, src=self.src, pt=self.pt, te=self.te, prio=self.prio, flags=self.flags,
                        data=ctypes.cast(data, ctypes.c_void_p), len=len(self.data)), data

    def build(self) -> bytes:
        """The bytes of its frame."""
        m, _keep = self._struct()
        buf = ctypes.create_string_buffer(_MAX)
        n = check(_lib.packetway().pwl_eep_build(ctypes.byref(m), buf, _MAX), "EEP message")
        return buf.raw[:n]

    @classmethod
    def _of(cls, m: _lib.Eep) -> Message:
        return cls(m.dst, m.pt, m.te, ctypes.string_at(m.data, m.len) if m.len else b"", m.src, m.prio, m.flags,
                   bool(m.crc_bad), tuple(m.hops[:m.nhops]), m.stamp)

    @classmethod
    def parse(cls, frame: bytes) -> Message:
        """The message in a frame, or PacketwayError that says what is wrong."""
        m, why = _lib.Eep(), ctypes.c_char_p()
        err = _lib.packetway().pwl_eep_parse(frame, len(frame), ctypes.byref(m), ctypes.byref(why))
        if err < 0:
            raise PacketwayError(-err, "EEP message", (why.value or b"").decode())
        return cls._of(m)


@dataclass(frozen=True)
class Trace:
    """Half-routers `there` and `back`, virtual nanoseconds there, and seconds there and back."""

    answer: int
    there: tuple[int, ...]
    back: tuple[int, ...]
    virtual_ns: int
    seconds: float


@dataclass(frozen=True)
class EspReply:
    """`outcome` is forwarded, aborted or discarded; operands as the packet brought them back."""

    instruction: str
    outcome: str
    operands: dict[str, int]


@dataclass(frozen=True)
class Node:
    """A node as half-routers know it: codes of its capabilities, ranges of groups that it listens to."""

    addr: int
    name: str
    capabilities: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]


class Socket:
    """Sends and receives EEP at a station (CAP_NET_RAW).

    >>> with Socket("pw0") as sock:
    ...     sock.echo("00:00:02")
    """

    def __init__(self, station: str) -> None:
        self._lib = _lib.packetway()
        self._k = ctypes.c_void_p()
        self.station = station
        check(self._lib.pwl_sock_open(ctypes.byref(self._k), station.encode()), station)
        self.address: int = self._lib.pwl_sock_addr(self._k)
        self.mtu: int = self._lib.pwl_sock_mtu(self._k)

    def close(self) -> None:
        """Close it."""
        if self._k:
            self._lib.pwl_sock_close(self._k)
            self._k = ctypes.c_void_p()

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def fileno(self) -> int:
        """For select and asyncio."""
        return int(self._lib.pwl_sock_fd(self._k))

    def send(self, message: Message) -> None:
        """Send one message."""
        m, _keep = message._struct()
        check(self._lib.pwl_send(self._k, ctypes.byref(m)), self.station)

    def receive(self, timeout: float = 1.0) -> Message | None:
        """The next message, or None."""
        buf, m = ctypes.create_string_buffer(_MAX), _lib.Eep()
        n = check(self._lib.pwl_recv(self._k, buf, _MAX, ctypes.byref(m), int(timeout * 1000)), self.station)
        return Message._of(m) if n else None

    def echo(self, dst: address.Address, size: int = 56, timeout: float = 1.0) -> float:
        """Seconds until the echo came back; PacketwayError (ETIMEDOUT) if none did."""
        return self._echo(dst, size, timeout, 0)[0]

    def _echo(self, dst: address.Address, size: int, timeout: float, flags: int) -> tuple[float, Message]:
        data = struct.pack(">II", os.getpid() & 0xFFFFFFFF, 1).ljust(max(size, 8), b"\x5a")
        start = time.monotonic()
        self.send(Message(address.parse(dst), PT_ECHO, ECHO_REQUEST, data, flags=flags))
        while True:
            left = timeout - (time.monotonic() - start)
            m = self.receive(left) if left > 0 else None
            if m is None:
                raise PacketwayError(errno.ETIMEDOUT, f"echo of {address.text(address.parse(dst))}")
            if m.pt == PT_ECHO and m.te == ECHO_REPLY and m.data == data:
                return time.monotonic() - start, m

    def trace(self, dst: address.Address, timeout: float = 1.0) -> Trace:
        """Half-routers on the way to a node and back: an echo in which each writes its address."""
        took, m = self._echo(dst, 8, timeout, HOPS | STAMP)
        there = m.hops.index(m.src) if m.src in m.hops else len(m.hops)
        return Trace(m.src, m.hops[:there], m.hops[there + 1:], m.stamp, took)

    def find(self, name: str = "", *, capability: int = 0, group: int = 0, timeout: float = 1.0) -> list[Node]:
        """Nodes of all SANs that fit what is given; PacketwayError (ETIMEDOUT) if no half-router answers.

        >>> with Socket("pw0") as sock:
        ...     sock.find(capability=65)
        """
        nodes: list[Node] = []

        def found(node: ctypes._Pointer[_lib.Node], _arg: object) -> int:
            n = node.contents
            nodes.append(Node(n.addr, n.name.decode(errors="replace"), tuple(c.code for c in n.capa[:n.ncapa]),
                              tuple((g.first, g.last) for g in n.group[:n.ngroups])))
            return 0

        query = _lib.Query(name.encode() or None, capability, group)
        check(self._lib.pwl_find(self._k, ctypes.byref(query), _lib.FOUND(found), None, int(timeout * 1000)), self.station)
        return nodes

    def describe(self, name: str = "", capabilities: Sequence[int] = (), groups: Sequence[tuple[int, int]] = ()) -> None:
        """What this station is, for others to find it, until it goes down."""
        node = _lib.Node(name=name.encode(), ncapa=len(capabilities), ngroups=len(groups))
        for i, code in enumerate(capabilities):
            node.capa[i].code = code
        for i, (first, last) in enumerate(groups):
            node.group[i].first, node.group[i].last = first, last
        check(self._lib.pwl_describe(self._k, ctypes.byref(node)), self.station)

    def esp(self, dst: address.Address, instruction: str, op: str = "", *, at: str = "any", on_reflect: bool = False,
            timeout: float = 1.0, **operands: int) -> EspReply:
        """One ESP instruction, sent with Reflect: count, compare, collect, rchld or rcollect.

        >>> with Socket("pw0") as sock:
        ...     sock.esp("00:00:02", "count", tag=7, thresh=2).outcome
        """
        code = self._lib.pwl_esp_parse_name(instruction.encode())
        if code < 0 or instruction not in ESP_OPERANDS:
            raise ValueError(f"'{instruction}' is not an instruction")
        names = ESP_OPERANDS[instruction]
        wrong = set(operands) ^ {n for n in names if n != "pkt_id" or n in operands}
        if wrong:
            raise ValueError(f"{instruction} has the operands {', '.join(names)}")
        oper = self._lib.pwl_esp_op_parse(code, op.encode()) if op else 0
        if oper < 0:
            raise ValueError(f"'{op}' is not an operator of {instruction}")
        e = _lib.Esp(ctl=(ESP_EXEC_ON_REFLECT if on_reflect else ESP_EXECUTE) | ESP_AT.index(at) << ESP_LOC_SHIFT,
                     opcode=code, op=oper, **operands)
        if not e.pkt_id:
            e.pkt_id = self.address
        n = check(self._lib.pwl_esp_call(self._k, address.parse(dst), ctypes.byref(e), int(timeout * 1000)), self.station)
        outcome = "discarded" if not n else "aborted" if e.ctl & ESP_ERROR else "forwarded"
        return EspReply(instruction, outcome, {k: getattr(e, k) for k in names} if n else {})
