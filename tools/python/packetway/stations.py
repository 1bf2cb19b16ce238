# SPDX-License-Identifier: GPL-2.0
"""Stations: netdevices on the ports of a SAN, by rtnetlink through pyroute2; counters and faults."""
from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

from .errors import PacketwayError

ORDERS = ("as-sent", "big", "little")
_SIOCETHTOOL, _GSTRINGS, _GSTATS, _GSSET_INFO, _SS_STATS, _STRING = 0x8946, 0x1b, 0x1d, 0x37, 1, 32
_DEBUGFS = "/sys/kernel/debug/packetway"


@dataclass(frozen=True)
class Station:
    """A station of this network namespace, as `pwctl station show` has it."""

    ifname: str
    ifindex: int
    san: int
    port: int
    addr: int
    mtu: int
    order: str
    up: bool


def _iproute() -> Any:
    from pyroute2 import IPRoute
    from pyroute2.netlink import nla
    from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg

    class packetway(nla):  # type: ignore[misc]
        """IFLA_INFO_DATA of the kind packetway."""

        prefix = "IFLA_"
        nla_map = (("IFLA_UNSPEC", "none"), ("IFLA_PACKETWAY_SAN", "uint32"), ("IFLA_PACKETWAY_PORT", "uint32"),
                   ("IFLA_PACKETWAY_ADDR", "uint32"), ("IFLA_PACKETWAY_ORDER", "uint32"))

    class pwmon(nla):  # type: ignore[misc]
        """IFLA_INFO_DATA of the kind pwmon."""

        prefix = "IFLA_"
        nla_map = (("IFLA_UNSPEC", "none"), ("IFLA_PWMON_RING", "uint8"), ("IFLA_PWMON_CELLS", "uint8"))

    ifinfmsg.ifinfo.register_link_kind(module={"packetway": packetway, "pwmon": pwmon})
    return IPRoute(ext_ack=True)


def _station(link: Any) -> Station | None:
    info = link.get_attr("IFLA_LINKINFO")
    if info is None or info.get_attr("IFLA_INFO_KIND") != "packetway":
        return None
    data = info.get_attr("IFLA_INFO_DATA")
    order = data.get_attr("IFLA_PACKETWAY_ORDER") or 0
    return Station(link.get_attr("IFLA_IFNAME"), link["index"], data.get_attr("IFLA_PACKETWAY_SAN"),
                   data.get_attr("IFLA_PACKETWAY_PORT"), data.get_attr("IFLA_PACKETWAY_ADDR"),
                   link.get_attr("IFLA_MTU"), ORDERS[order], bool(link["flags"] & 1))


def _run(what: str, call: Any, *args: Any, **words: Any) -> Any:
    from pyroute2.netlink.exceptions import NetlinkError

    try:
        return call(*args, **words)
    except NetlinkError as e:
        raise PacketwayError(e.code, what, str(e.args[1]) if len(e.args) > 1 else "") from None


def stations() -> list[Station]:
    """All stations of the namespace."""
    with _iproute() as ip:
        return [s for s in map(_station, _run("stations", ip.get_links)) if s]


def station(name: str) -> Station:
    """One of them."""
    for s in stations():
        if s.ifname == name:
            return s
    raise PacketwayError(19, name, "there is no station of this name in this namespace")


def add(name: str, *, san: int | None = None, port: int | None = None, order: str | None = None,
        mtu: int | None = None, up: bool = False) -> Station:
    """Make a station, on the next free port of SAN 0 unless the words say otherwise."""
    words: Any = {"packetway_san": san, "packetway_port": port,
                  "packetway_order": None if order is None else ORDERS.index(order), "mtu": mtu}
    words = {k: v for k, v in words.items() if v is not None}
    with _iproute() as ip:
        _run(name, ip.link, "add", ifname=name, kind="packetway", **words)
        if up:
            _run(name, ip.link, "set", index=ip.link_lookup(ifname=name)[0], state="up")
    return station(name)


def delete(name: str) -> None:
    """Delete a station; other devices are left alone."""
    index = station(name).ifindex
    with _iproute() as ip:
        _run(name, ip.link, "del", index=index)


def stats(name: str) -> dict[str, int]:
    """Counters of a station, as `ethtool -S` and `pwctl stats` have them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        def ask(data: bytes) -> bytes:
            buf = ctypes.create_string_buffer(data, len(data))
            try:
                fcntl.ioctl(s, _SIOCETHTOOL, struct.pack("16sP16x", name.encode(), ctypes.addressof(buf)))
            except OSError as e:
                raise PacketwayError(e.errno or 0, name) from None
            return buf.raw

        count, = struct.unpack_from("=I", ask(struct.pack("=IIQI", _GSSET_INFO, 0, 1 << _SS_STATS, 0)), 16)
        names = ask(struct.pack("=III", _GSTRINGS, _SS_STATS, count) + bytes(count * _STRING))[12:]
        values = struct.unpack(f"={count}Q", ask(struct.pack("=II", _GSTATS, count) + bytes(count * 8))[8:])
    return {names[i * _STRING:(i + 1) * _STRING].split(b"\0")[0].decode(): v for i, v in enumerate(values)}


def _fault(san: int, what: str, text: str) -> None:
    """As the module names a SAN in debugfs: with the network namespace, except the first."""
    inode = os.stat("/proc/self/ns/net").st_ino
    own = f"{_DEBUGFS}/net{inode}-san{san}"
    path = f"{own if os.path.isdir(own) else f'{_DEBUGFS}/san{san}'}/{what}_fault"
    try:
        # no buffer: the file takes one write, and refuses it at once
        with open(path, "wb", buffering=0) as f:
            f.write(text.encode())
    except OSError as e:
        raise PacketwayError(e.errno or 0, path) from None


def fault_ring(*words: str | int, san: int = 0) -> None:
    """One fault with the next ring packet: flip HOP BIT | stuck INTERFACE | leave BITS | lose | dup."""
    _fault(san, "ring", " ".join(map(str, words)))


def fault_fabric(*, drop: int = 0, corrupt: int = 0, seed: int = 1, san: int = 0) -> None:
    """Cells lost and corrupted from now on, in parts per million."""
    _fault(san, "fabric", f"{drop} {corrupt} {seed}")
