# SPDX-License-Identifier: GPL-2.0
"""EEP messages: build, parse, send, receive, echo."""
from __future__ import annotations

import ctypes
import errno
import os
import struct
import time
from dataclasses import dataclass, field
from types import TracebackType

from . import _lib, address
from .errors import PacketwayError, check

PT_ECHO, ECHO_REQUEST, ECHO_REPLY = 1027, 1, 2
CRC32, CRC64, HOPS = 1, 2, 4
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
                   bool(m.crc_bad), tuple(m.hops[:m.nhops]))

    @classmethod
    def parse(cls, frame: bytes) -> Message:
        """The message in a frame, or PacketwayError that says what is wrong."""
        m, why = _lib.Eep(), ctypes.c_char_p()
        err = _lib.packetway().pwl_eep_parse(frame, len(frame), ctypes.byref(m), ctypes.byref(why))
        if err < 0:
            raise PacketwayError(-err, "EEP message", (why.value or b"").decode())
        return cls._of(m)


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
        data = struct.pack(">II", os.getpid() & 0xFFFFFFFF, 1).ljust(max(size, 8), b"\x5a")
        start = time.monotonic()
        self.send(Message(address.parse(dst), PT_ECHO, ECHO_REQUEST, data))
        while True:
            left = timeout - (time.monotonic() - start)
            m = self.receive(left) if left > 0 else None
            if m is None:
                raise PacketwayError(errno.ETIMEDOUT, f"echo of {address.text(address.parse(dst))}")
            if m.pt == PT_ECHO and m.te == ECHO_REPLY and m.data == data:
                return time.monotonic() - start
