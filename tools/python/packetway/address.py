# SPDX-License-Identifier: GPL-2.0
"""PacketWay addresses: 24 bits, written 00:01:02."""
from __future__ import annotations

from typing import Union

Address = Union[int, str]
BROADCAST = 0x7FFFFF


def parse(address: Address) -> int:
    """A number from "00:00:02", "0x2", "2", "broadcast" or a number."""
    if isinstance(address, int):
        value = address
    elif address == "broadcast":
        value = BROADCAST
    elif ":" in address:
        parts = address.split(":")
        if len(parts) != 3 or not all(1 <= len(p) <= 2 for p in parts):
            raise ValueError(f"'{address}' is not an address")
        value = int("".join(p.zfill(2) for p in parts), 16)
    else:
        value = int(address, 0)
    if not 0 <= value < 1 << 24:
        raise ValueError(f"'{address}' is not an address")
    return value


def text(address: int) -> str:
    """How pwctl and ip write it."""
    return ":".join(f"{address >> s & 0xFF:02x}" for s in (16, 8, 0))
