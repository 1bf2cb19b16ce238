# SPDX-License-Identifier: GPL-2.0
"""The generic netlink family, driven by its YAML specification.

Requests and replies are dictionaries with the names of the specification, as the kernel's
ynl has them. The kernel's `pyynl` is used when it is there; otherwise pyroute2 gets message
classes that are made from the same specification.
"""
from __future__ import annotations

import errno
import functools
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Protocol, cast

from . import address
from .errors import PacketwayError

Attrs = dict[str, Any]

_NLM_F_DUMP_INTR = 0x10
_DUMPS = 8  # how often a dump is tried

_HERE = Path(__file__).resolve().parent
_SPECS = (
    _HERE.parents[2] / "Documentation/netlink/specs/packetway.yaml",
    Path("/usr/share/packetway/packetway.yaml"),
    Path("/usr/local/share/packetway/packetway.yaml"),
)


def spec_path() -> Path:
    """The specification: $PACKETWAY_SPEC, of the checkout, or installed."""
    given = os.environ.get("PACKETWAY_SPEC")
    for path in (Path(given),) if given else _SPECS:
        if path.is_file():
            return path
    raise FileNotFoundError("packetway.yaml is not there; set PACKETWAY_SPEC")


@functools.lru_cache(None)
def _document(path: Path) -> Attrs:
    """The specification, read once."""
    import yaml

    # the loader in C takes a tenth of the time
    return cast(Attrs, yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


class DumpInterrupted(Exception):
    """The list changed while it was read: entries may be missing."""


class Backend(Protocol):
    """What a netlink library does for us."""

    name: str

    def call(self, op: str, attrs: Attrs, dump: bool) -> list[Attrs]:
        """All replies to a request; DumpInterrupted: those of a dump are not all of them."""

    def subscribe(self) -> None:
        """Receive notifications from now on."""

    def fileno(self) -> int:
        """For select and asyncio."""

    def notifications(self) -> list[tuple[str, Attrs]]:
        """Those that have arrived: name of the command and object."""

    def close(self) -> None:
        """Give the socket back."""


class _Watched:
    """A netlink socket that notes whether a dump was interrupted; pyynl does not look."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self.interrupted = False

    def recv(self, *args: int) -> bytes:
        data = bytes(self._sock.recv(*args))
        at = 0
        while at + 16 <= len(data):
            length, _, flags = struct.unpack_from("=IHH", data, at)
            self.interrupted |= bool(flags & _NLM_F_DUMP_INTR)
            at += max(length + 3 & ~3, 16)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


class PyynlBackend:
    """The kernel's own library."""

    name = "pyynl"

    def __init__(self, spec: Path) -> None:
        from pyynl.lib import NlError, YnlFamily

        self._error: Any = NlError
        try:
            self._family: Any = YnlFamily(str(spec), "")
        except Exception as e:  # it has no class of its own for this
            raise PacketwayError(2, "generic netlink family packetway", str(e)) from e
        self._sock = _Watched(self._family.sock)
        self._family.sock = self._sock

    def call(self, op: str, attrs: Attrs, dump: bool) -> list[Attrs]:
        self._sock.interrupted = False
        try:
            reply = self._family.dump(op, attrs) if dump else self._family.do(op, attrs)
        except self._error as e:
            extack = getattr(e.nl_msg, "extack", None) or {}
            raise PacketwayError(e.error, op, str(extack.get("msg", ""))) from None
        if dump and self._sock.interrupted:
            raise DumpInterrupted
        if reply is None:
            return []
        return list(reply) if isinstance(reply, list) else [reply]

    def subscribe(self) -> None:
        self._family.ntf_subscribe("events")

    def fileno(self) -> int:
        return int(self._family.sock.fileno())

    def notifications(self) -> list[tuple[str, Attrs]]:
        self._family.check_ntf()
        # 6.12 has a list, later kernels a queue
        queue = self._family.async_msg_queue
        messages: list[Any] = []
        if isinstance(queue, list):
            messages, queue[:] = list(queue), []
        else:
            while not queue.empty():
                messages.append(queue.get_nowait())
        return [(str(m["name"]), cast(Attrs, m["msg"])) for m in messages]

    def close(self) -> None:
        self._family.sock.close()


_TYPES = {"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "flag": "flag", "string": "asciiz",
          "binary": "cdata", "pad": "hex"}


class Pyroute2Backend:
    """pyroute2, with message classes made from the specification."""

    name = "pyroute2"

    def __init__(self, spec: Path) -> None:
        from pyroute2.netlink import NLA_F_NESTED, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, genlmsg, nla
        from pyroute2.netlink.exceptions import NetlinkDumpInterrupted, NetlinkError
        from pyroute2.netlink.generic import GenericNetlinkSocket

        self._doc = _document(spec)
        self._sets: dict[str, list[Attrs]] = {s["name"]: s["attributes"] for s in self._doc["attribute-sets"]}
        self._enums: dict[str, list[str]] = {d["name"]: d["entries"] for d in self._doc["definitions"]}
        self._numbers: dict[str, int] = {}
        self._ntfs: dict[int, str] = {}
        number = 0
        for op in self._doc["operations"]["list"]:
            number = op.get("value", number + 1)
            self._numbers[op["name"]] = number
            if "notify" in op or "event" in op:
                self._ntfs[number] = op["name"]
        self._error: Any = NetlinkError
        self._interrupted: Any = NetlinkDumpInterrupted
        self._flags = (NLM_F_REQUEST | NLM_F_ACK, NLM_F_REQUEST | NLM_F_DUMP)
        self._message: Any = type("message", (genlmsg,), {
            "prefix": "", **self._members("packetway", nla, NLA_F_NESTED)})
        self._sock: Any = GenericNetlinkSocket(ext_ack=True)
        self._sock.module_err_level = "debug"
        try:
            self._sock.bind(self._doc["name"], self._message)
        except NetlinkError as e:
            self._sock.close()
            raise PacketwayError(e.code, "generic netlink family packetway",
                                 "this kernel has no packetway" if e.code == 2 else "") from None

    def _members(self, name: str, nla: Any, nested: int) -> Attrs:
        """Body of the class of an attribute set; nests are classes in it."""
        out: Attrs = {"nla_flags": nested}
        table: list[tuple[str, str]] = [("UNSPEC", "none")]
        for a in self._sets[name]:
            kind = _TYPES.get(a["type"], "")
            if a["type"] == "nest":
                kind = "set_" + a["nested-attributes"].replace("-", "_")
                out[kind] = type(kind, (nla,), {"prefix": "", **self._members(a["nested-attributes"], nla, nested)})
            while len(table) < a.get("value", 0):
                table.append((f"unused-{len(table)}", "none"))
            table.append((a["name"], kind))
        out["nla_map"] = tuple(table)
        return out

    def _encode(self, name: str, attrs: Attrs) -> list[tuple[str, Any]]:
        out: list[tuple[str, Any]] = []
        known = {a["name"]: a for a in self._sets[name]}
        for key, value in attrs.items():
            if key not in known:
                raise KeyError(f"{name} has no attribute '{key}'")
            spec = known[key]
            for v in value if isinstance(value, list) and spec.get("multi-attr") else [value]:
                if spec["type"] == "nest":
                    v = {"attrs": self._encode(spec["nested-attributes"], v)}
                elif spec["type"] == "flag":
                    if not v:
                        continue
                    v = None
                elif "enum" in spec and isinstance(v, str):
                    v = self._enums[spec["enum"]].index(v)
                elif spec["type"] == "binary" and isinstance(v, str):
                    v = bytes.fromhex(v)
                out.append((key, v))
        return out

    def _decode(self, name: str, message: Any) -> Attrs:
        out: Attrs = {}
        known = {a["name"]: a for a in self._sets[name]}
        for key, value in message["attrs"]:
            spec = known.get(key)
            if spec is None or spec["type"] == "pad":
                continue
            if spec["type"] == "nest":
                value = self._decode(spec["nested-attributes"], value)
            elif spec["type"] == "flag":
                value = True
            elif "enum" in spec:
                names = self._enums[spec["enum"]]
                value = names[value] if value < len(names) else value
            elif spec.get("sub-type") == "u32":
                value = [v for (v,) in struct.iter_unpack("=I", value)]
            if spec.get("multi-attr"):
                out.setdefault(key, []).append(value)
            else:
                out[key] = value
        return out

    def call(self, op: str, attrs: Attrs, dump: bool) -> list[Attrs]:
        message = self._message()
        message["cmd"] = self._numbers[op]
        message["version"] = 1
        message["attrs"] = self._encode("packetway", attrs)
        try:
            replies = self._sock.nlm_request(message, msg_type=self._sock.prid, msg_flags=self._flags[dump])
            return [self._decode("packetway", r) for r in replies if r["header"]["type"] == self._sock.prid]
        except self._interrupted:
            raise DumpInterrupted from None
        except self._error as e:
            sentence = str(e.args[1]) if len(e.args) > 1 else ""
            raise PacketwayError(e.code, op, "" if sentence == os.strerror(e.code) else sentence) from None

    def subscribe(self) -> None:
        self._sock.add_membership("events")

    def fileno(self) -> int:
        return int(self._sock.fileno())

    def notifications(self) -> list[tuple[str, Attrs]]:
        import select

        out: list[tuple[str, Attrs]] = []
        while select.select([self._sock.fileno()], [], [], 0)[0]:
            for m in self._sock.get():
                if m["header"]["type"] == self._sock.prid and m["cmd"] in self._ntfs:
                    out.append((self._ntfs[m["cmd"]], self._decode("packetway", m)))
        return out

    def close(self) -> None:
        self._sock.close()


def backend(name: str | None = None) -> Backend:
    """pyynl or pyroute2: the one that is asked for, or the first that is installed."""
    path = spec_path()
    makers: dict[str, Callable[[Path], Backend]] = {"pyynl": PyynlBackend, "pyroute2": Pyroute2Backend}
    for one, make in makers.items():
        if name not in (None, one):
            continue
        try:
            return make(path)
        except ImportError:
            if name:
                raise
    raise ImportError("neither pyynl nor pyroute2 is installed" if name is None else f"no backend '{name}'")


class Netlink:
    """A connection to the family in the network namespace of this thread.

    >>> with Netlink() as nl:
    ...     nl.do("san-new", {"san": {"id": 1}})
    ...     [s["san"]["id"] for s in nl.dump("san-get")]
    """

    def __init__(self, name: str | None = None) -> None:
        self.backend = backend(name)

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the socket back."""
        self.backend.close()

    def do(self, op: str, attrs: Attrs) -> Attrs | None:
        """One request; its reply, if it has one."""
        replies = self.backend.call(op, attrs, False)
        return replies[0] if replies else None

    def dump(self, op: str, attrs: Attrs | None = None) -> list[Attrs]:
        """All objects that fit. If the list changes while it is read, it is read again."""
        for _ in range(_DUMPS):
            try:
                return self.backend.call(op, attrs or {}, True)
            except DumpInterrupted:
                pass
        raise PacketwayError(errno.EINTR, op, "the list changed each time that it was read")

    def _objects(self, op: str, nest: str, attrs: Attrs | None = None) -> Iterator[Attrs]:
        for reply in self.dump(op, attrs):
            value = reply.get(nest, {})
            yield from value if isinstance(value, list) else [value]

    # SANs
    def sans(self) -> list[Attrs]:
        """All SANs of the namespace."""
        return list(self._objects("san-get", "san"))

    def san(self, ident: int) -> Attrs:
        """One SAN; san_multicast() has its connections."""
        return cast(Attrs, (self.do("san-get", {"san": {"id": ident}}) or {})["san"])

    def san_add(self, ident: int, **settings: Any) -> None:
        """Make a SAN; settings: ports, bias, engine, ring_engine, rate, real, frozen,
        cut_through, and parameters of the fabric: depth, og_blocks, ..., gap_word,
        drop, corrupt, fault_seed, and topology: a generator with its sizes; with it
        multicast: connections, each a list of the port that sends and of those that it
        leads to."""
        self.do("san-new", {"san": {"id": ident, **_san_settings(settings)}})

    def san_set(self, ident: int, **settings: Any) -> None:
        """Change a SAN."""
        self.do("san-set", {"san": {"id": ident, **_san_settings(settings)}})

    def san_multicast(self, ident: int) -> list[list[int]]:
        """Multicast connections of a SAN's topology, as san_add() takes them."""
        reply = self.do("san-get", {"san": {"id": ident, "with-multicast": True}}) or {}
        return [[c["from"], *(8 * i + b for i, byte in enumerate(c["to"]) for b in range(8)
                              if byte >> b & 1)]
                for c in reply["san"]["multicast"].get("connection", [])]

    def san_stages(self, ident: int) -> list[Attrs]:
        """Cells, refusals and queue fill of each stage of a SAN's fabric, the output ports last."""
        reply = self.do("san-get", {"san": {"id": ident, "with-stages": True}}) or {}
        return cast("list[Attrs]", reply["san"].get("stage", []))

    def san_del(self, ident: int) -> None:
        """Delete a SAN without stations."""
        self.do("san-del", {"san": {"id": ident}})

    # routers and routes
    def routers(self) -> list[Attrs]:
        """All routers of the namespace."""
        return list(self._objects("router-get", "router"))

    def router_add(self, name: str, *halves: tuple[int, int | None]) -> None:
        """Join SANs; a half is (san, port) or (san, None) for the lowest free port."""
        self.do("router-new", {"router": {"name": name, "half": [
            {"san": s} if p is None else {"san": s, "port": p} for s, p in halves]}})

    def router_del(self, name: str) -> None:
        """Delete a router."""
        self.do("router-del", {"router": {"name": name}})

    def routes(self, san: int | None = None) -> list[Attrs]:
        """Routes from all SANs, or from one."""
        return list(self._objects("route-get", "route", {} if san is None else {"route": {"san": san}}))

    def route_add(self, first: address.Address, last: address.Address, *, san: int, via: address.Address,
                  quality: int | None = None, mtu: int | None = None) -> None:
        """A static route from a SAN to a range of addresses, by a half-router on that SAN."""
        self.do("route-new", {"route": {**_route(first, last, san, via), **({} if quality is None else {"quality": quality}),
                                        **({} if mtu is None else {"mtu": mtu})}})

    def route_del(self, first: address.Address, last: address.Address, *, san: int, via: address.Address) -> None:
        """Delete a static route."""
        self.do("route-del", {"route": _route(first, last, san, via)})

    def source_route_add(self, first: address.Address, last: address.Address, *, ifindex: int, l2rhs: bytes,
                         mtu: int | None = None) -> None:
        """A source route of a station: what it sends to these addresses gets this row of L2RHs in front."""
        self.do("route-new", {"route": {**_source(first, last, ifindex), "l2rh": l2rhs, **({} if mtu is None else {"mtu": mtu})}})

    def source_route_del(self, first: address.Address, last: address.Address, *, ifindex: int) -> None:
        """Delete a source route of a station."""
        self.do("route-del", {"route": _source(first, last, ifindex)})

    def resolve(self, node: int | str, *, san: int) -> Attrs:
        """A node by address or name, `node`, and the routes to it from a SAN, `route`."""
        try:
            which: Attrs = {"addr": address.parse(node)}
        except ValueError:
            which = {"name": node}
        return self.do("resolve", {"node": {"san": san, **which}}) or {}

    def nodes(self, san: int | None = None) -> list[Attrs]:
        """Nodes that half-routers know."""
        return list(self._objects("node-get", "node", {} if san is None else {"node": {"san": san}}))

    # ESP and POETS
    def esp(self) -> list[Attrs]:
        """ESP stores of stations and half-routers."""
        return list(self._objects("esp-get", "esp"))

    def esp_set(self, *, ifindex: int | None = None, node: address.Address | None = None, **settings: int) -> None:
        """Capacity and lifetime (milliseconds) of a station's or half-router's store, or the defaults."""
        which: Attrs = {} if ifindex is None else {"ifindex": ifindex}
        if node is not None:
            which["node"] = address.parse(node)
        self.do("esp-set", {"esp": {**which, **settings}})

    def esp_bindings(self) -> list[Attrs]:
        """Tags and values (CAP_NET_ADMIN)."""
        return list(self._objects("esp-binding-get", "esp"))

    def poets(self) -> list[Attrs]:
        """Softswitches and motherships."""
        return list(self._objects("poets-get", "poets", {"poets": {}}))


def _source(first: address.Address, last: address.Address, ifindex: int) -> Attrs:
    return {"ifindex": ifindex, "first": address.parse(first), "last": address.parse(last)}


def _route(first: address.Address, last: address.Address, san: int, via: address.Address) -> Attrs:
    return {"san": san, "first": address.parse(first), "last": address.parse(last), "hr": address.parse(via)}


def _dashes(settings: Attrs) -> Attrs:
    return {k.replace("_", "-"): v for k, v in settings.items() if v is not None}


def _connection(ports: list[int]) -> Attrs:
    bits = sum(1 << p for p in set(ports[1:]))
    return {"from": ports[0], "to": bits.to_bytes((bits.bit_length() + 7) // 8, "little").hex()}


def _san_settings(settings: Attrs) -> Attrs:
    out = _dashes(settings)
    if "multicast" in out:
        out["multicast"] = {"connection": [_connection(c) for c in out["multicast"]]}
    return out
