#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""router.py NAME SAN:PORT[:MTU[:QUALITY]] SAN:PORT[:MTU[:QUALITY]]: a PacketWay router in user space.

Joins two SANs of this network namespace through /dev/packetway, without any other file of
this project. Frames are copied from one half to the other: the kernel has done what
they need at the border of the SAN. What is done here is RRP: tables from and for the
neighbours of both halves, and answers to WRU, HRTO, GVL2 and TELL.

SIGTERM makes it leave in order: it withdraws its routes, passes on what has come, and ends.
"""
import copy
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import time

HALF_OPEN, HALF_GET = 0xE930, 0xE931
NONBLOCK, HEAD = 1, 2
BEAT = 5  # seconds between questions to all neighbours: a table may have been lost
QUIET = 0.2  # seconds without a frame after which all have come
RRP, ERR, BROADCAST = 1, 65535, 0x7FFFFF
GVL2, L2SR, RDRC, TELL, INFO, HRTO, WRU, GVRT, RTBL = range(1, 10)
UNK, HRDOWN, LINKDOWN = 1, 2, 3
ROUTER = 2  # a capability
ADDR, NAME, CAPA, LADR, SRQR, MTUR, RCVF, RTHD = range(0x11, 0x19)


def message(pt, te, dst, src, records=b""):
    """An RRP or ERR message of the highest priority; records are whole words."""
    return struct.pack(">B3sHHII", 63, dst.to_bytes(3, "big"), te, pt, len(records) // 8, src) + records + bytes(8)


def record(rtype, body, before=0):
    """One record: body fills the last four bytes of the first word and whole words after it."""
    pad = (4 - len(body) - before) % 8
    body = bytes(before) + body + (b"" if before else bytes(pad))
    return struct.pack(">BBH", rtype, before or pad, (len(body) - 4) // 8) + body


def records(data):
    """(type, data without padding, all bytes) of each record; a nested one is inside its ADDR."""
    at = 0
    while at + 8 <= len(data):
        rtype, pad, words = struct.unpack_from(">BBH", data, at)
        end = at + 8 + 8 * words
        if end > len(data):
            return
        body = data[at + 4 : end]
        yield rtype, body[pad:] if rtype in (SRQR, MTUR) else body[: len(body) - pad], data[at:end]
        at = end


def least(a, b):
    """The smaller one of two MTUs, of which 0 is any."""
    return min(a, b) if a and b else a or b


def single(addr):
    return struct.pack(">I", 1 << 24 | addr)


def fits(node, criteria):
    """Does an ADDR record with its description fit one of the criteria of a TELL?"""
    addr, inside = int.from_bytes(node[5:8], "big"), list(records(node[8:]))
    for rtype, body, raw in criteria:
        if rtype == ADDR:
            pair = raw[4] != 1
            low = int.from_bytes(raw[5:8], "big")
            high = int.from_bytes(raw[9:12], "big") if pair else low
            more = list(records(raw[16 if pair else 8 :]))
            if low <= addr <= high and (not more or fits(node, more)):
                return True
        elif rtype == NAME and any(t == NAME and b == body for t, b, _ in inside):
            return True
        elif rtype == CAPA and any(t == CAPA and b[:1] == body[:1] for t, b, _ in inside):
            return True
    return False


class Table:
    """What a half gives to others: one part of the table of a SAN."""

    def __init__(self, data):
        rec = list(records(data))
        if [r[0] for r in rec[:4]] != [RTHD, SRQR, MTUR, RCVF]:
            raise ValueError("not a table")
        self.rthd = rec[0][2]
        self.san = int.from_bytes(self.rthd[5:8], "big")
        self.serial, self.part, self.last = struct.unpack(">IHH", self.rthd[8:16])
        self.quality, self.route = struct.unpack(">H", rec[1][1][:2])[0], rec[1][1][2:]
        self.mtu = int.from_bytes(rec[2][1], "big")
        self.path = [e & 0xFFFFFF for (e,) in struct.iter_unpack(">I", rec[3][1])]
        self.nodes = b"".join(r[2] for r in rec[4:])
        # (quality, L2RHs) of its nodes, and (first, last, quality) of ranges
        self.node, self.range = {}, []
        for rtype, _, raw in rec[4:]:
            one = rtype == ADDR and raw[4] == 1
            for inner, data, _ in records(raw[8 if one else 16 :]):
                if inner == SRQR and one:
                    self.node.setdefault(raw[5:8], (int.from_bytes(data[:2], "big"), data[2:]))
                elif inner == SRQR:
                    self.range.append((raw[5:8], raw[9:12], int.from_bytes(data[:2], "big")))

    def key(self):
        return self.san, tuple(self.path), self.part

    def through(self, half, l2rh=b"", mtu=0):
        """The same table as this half-router gives it, who is one step further."""
        t = copy.copy(self)
        t.quality, t.route = min(self.quality + half.quality, 65535), l2rh + self.route
        t.path, t.mtu = [half.addr] + self.path, least(self.mtu, mtu)
        return t

    def find(self, addr, ranges=False):
        """(quality, L2RHs) of a node; with ranges of a SAN without this node, too."""
        raw = addr.to_bytes(3, "big")
        found = self.node.get(raw)
        for first, last, quality in self.range if ranges and not found else ():
            if first <= raw <= last:
                found = quality, b""
        return found

    def data(self):
        route = record(SRQR, struct.pack(">H", self.quality) + self.route, 2)
        mtu = record(MTUR, struct.pack(">I", self.mtu))
        return self.rthd + route + mtu + record(RCVF, b"".join(map(single, self.path))) + self.nodes


class Half:
    def __init__(self, name, san, port, mtu, quality, peer):
        dev = os.open("/dev/packetway", os.O_RDWR)
        arg = struct.pack("=8I32s", 64, NONBLOCK | HEAD, san, port, mtu, quality, peer, 0, name.encode())
        # a mutable argument: ioctl() then returns the status, the new descriptor
        self.fd = fcntl.ioctl(dev, HALF_OPEN, bytearray(arg))
        os.close(dev)
        self.name, self.quality, self.peer = name, quality or 1, None
        # tables that the peer gives to this half; half-routers of its SAN; its own description
        self.tables, self.neighbours, self.about = {}, set(), b""
        self.look()

    def look(self):
        got = struct.unpack("=10I", fcntl.ioctl(self.fd, HALF_GET, struct.pack("=10I", 40, *[0] * 9)))
        self.bias, self.ports, self.port, self.addr, self.mtu = got[3], got[4], got[5], got[6], got[8] // 8

    def here(self, addr):
        return 0 < addr - self.bias <= self.ports

    def write(self, data, head=bytes(8)):
        """A frame that is refused or finds no room is lost, as on any network."""
        try:
            os.write(self.fd, head + data)
            return True
        except OSError as e:
            return e.errno != errno.ENOBUFS

    def say(self, data):
        """A message that should not be lost: wait for room, but not for ever."""
        for _ in range(200):
            if self.write(data):
                return
            time.sleep(0.005)

    def l2rh(self, addr):
        """The hop on this SAN to an address of it."""
        k = round(self.ports**0.5)
        port = addr - self.bias - 1
        return bytes([0, 0x83, port % k, port // k, port % k, 0, 0, 0])

    def give(self, to, table):
        self.say(message(RRP, RTBL, to, self.addr, table.data()))

    def learn(self, table):
        """A table that the peer half gives to this one: for the kernel and for neighbours."""
        old = self.tables.get(table.key())
        if old and (table.serial - old.serial) % 2**32 in range(2**31, 2**32):
            return
        same = old and old.serial == table.serial and old.data() == table.data()
        self.tables[table.key()] = table
        # it has fewer parts than before
        for k in [k for k in self.tables if k[:2] == table.key()[:2] and k[2] > table.last]:
            del self.tables[k]
        for n in () if same else self.neighbours:
            self.give(n, table.through(self))

    def forget(self, lost):
        for key in [k for k, t in self.tables.items() if lost(t.path)]:
            del self.tables[key]

    def ask(self):
        for n in self.neighbours:
            self.say(message(RRP, GVRT, n, self.addr))

    def meet(self, addr):
        if addr not in self.neighbours:
            self.neighbours.add(addr)
            self.say(message(RRP, GVRT, addr, self.addr))
            for t in self.tables.values():
                self.give(addr, t.through(self))

    def own(self, frame):
        """The table of this half's own SAN, which the kernel makes."""
        try:
            table = Table(frame[16:-8])
        except (ValueError, struct.error):
            return
        self.look()
        routers = set()
        for rtype, _, raw in records(table.nodes):
            inside = list(records(raw[8:])) if rtype == ADDR and raw[4] == 1 else []
            addr = int.from_bytes(raw[5:8], "big")
            if not any(t == CAPA and b[0] == ROUTER for t, b, _ in inside):
                continue
            if addr == self.addr:
                self.about = b"".join(r for t, b, r in inside if t == CAPA and b[0] != ROUTER)
            else:
                routers.add(addr)
        for addr in routers:
            self.meet(addr)
        if not table.last:
            self.neighbours &= routers
        self.peer.say(frame)
        self.peer.learn(table)

    def routes(self, addr, ranges=False):
        """(quality, half-router, L2RHs, MTU) of each route from this SAN to a node, the best one first."""
        found, own = [], self.l2rh(self.addr)
        for t in self.tables.values():
            node = t.find(addr, ranges)
            if node:
                found.append((t.quality + self.quality + node[0], self.addr, own + t.route + node[1],
                              least(t.mtu, self.mtu)))
        # what neighbours offer, and the nodes of this SAN
        for t in self.peer.tables.values():
            near = t.path == [self.addr]
            node = t.find(addr, ranges and not near)
            if node and near:
                found.append((node[0], addr, node[1], self.mtu))
            elif node:
                found.append((t.quality + node[0], t.path[1], t.route + node[1], least(t.mtu, self.mtu)))
        return sorted(found)

    def nodes(self):
        """Description of each node of both sides, by address."""
        found = {}
        for t in [*self.tables.values(), *self.peer.tables.values()]:
            for rtype, _, raw in records(t.nodes):
                if rtype == ADDR and raw[4] == 1 and raw[5:8] not in found:
                    inside = b"".join(r for kind, _, r in records(raw[8:]) if kind != SRQR)
                    found[raw[5:8]] = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + raw[4:8] + inside
        return [found[a] for a in sorted(found)]

    def tell(self, src, criteria):
        answer = b""
        for node in self.nodes():
            if not fits(node, criteria):
                continue
            if len(answer) + len(node) > 1384:
                # the rest begins here
                answer += struct.pack(">BBHB3sII", ADDR, 4, 1, 2, node[5:8], 3 << 24 | 0x7FFFFD, 0)
                break
            answer += node
        if answer:
            self.write(message(RRP, INFO, src, self.addr, answer))
        elif criteria:
            self.write(message(ERR, UNK, src, self.addr, criteria[0][2]))

    def rrp(self, te, src, data):
        """A message for this half-router."""
        want = data[:8]
        addr = int.from_bytes(data[5:8], "big")
        if te == GVRT:
            self.meet(src)
            for t in self.tables.values():
                self.give(src, t.through(self))
        elif te == RTBL:
            self.meet(src)
            try:
                t = Table(data).through(self, self.l2rh(src), self.mtu)
            except (ValueError, struct.error):
                return
            if {self.addr, self.peer.addr} & set(t.path[1:]) or t.san in (self.bias, self.peer.bias):
                return
            self.peer.say(message(RRP, RTBL, self.peer.addr, self.addr, t.data()))
            self.peer.learn(t)
        elif te == WRU:
            capa = record(CAPA, bytes([ROUTER]) + self.bias.to_bytes(3, "big") + self.peer.bias.to_bytes(3, "big"))
            inside = record(NAME, self.name.encode()) + capa + self.about
            node = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + single(self.addr) + inside
            self.write(message(RRP, INFO, src, self.addr, node))
        elif te == TELL:
            self.tell(src, list(records(data)))
        elif te == HRTO:
            found = self.routes(addr, True)
            if found:
                self.write(message(RRP, RDRC, src, self.addr, want + record(ADDR, single(found[0][1]))))
            else:
                self.write(message(ERR, UNK, src, self.addr, want))
        elif te == GVL2:
            # routes begin on this SAN: a node elsewhere cannot use them
            found = self.routes(addr) if self.here(src) else []
            if not found:
                self.write(message(ERR, UNK, src, self.addr, want))
            elif found[0][1] not in (self.addr, addr):
                self.write(message(RRP, RDRC, src, self.addr, want + record(ADDR, single(found[0][1]))))
            else:
                inside = b""
                for quality, _, route, mtu in found:
                    more = record(SRQR, struct.pack(">H", min(quality, 65535)) + route, 2)
                    more += record(MTUR, struct.pack(">I", mtu))
                    if len(inside) + len(more) <= 1392:
                        inside += more
                node = struct.pack(">BBH", ADDR, 0, len(inside) // 8) + data[4:8] + inside
                self.write(message(RRP, L2SR, src, self.addr, node))

    def down(self, te, src, data):
        """A half-router or a link of this SAN has gone; the kernel passes it on beyond the peer."""
        if src == self.addr:
            return
        pair = {int.from_bytes(raw[5:8], "big") for rtype, _, raw in records(data) if rtype == ADDR} - {0}
        if te == HRDOWN:
            self.neighbours -= pair
        # a neighbour withdraws what it gave; if it goes itself, everything through it
        ended = te == HRDOWN and src in pair

        def lost(path):
            hit = bool(pair & set(path)) if te == HRDOWN else pair <= set(path)
            return len(path) > 1 and ((hit and path[1] == src) or (ended and src in path))

        self.peer.forget(lost)
        self.peer.say(message(ERR, te, self.peer.addr, self.addr, data))
        Half.ask_at = min(Half.ask_at, time.monotonic() + 0.3)

    def leave(self):
        """No more routes of this SAN lead through this half."""
        gone = record(ADDR, single(self.peer.addr)) + record(ADDR, single(self.addr))
        self.say(message(ERR, HRDOWN, self.addr, self.peer.addr, gone))

    def handle(self, head, frame, leaving):
        dst, src = int.from_bytes(frame[1:4], "big"), int.from_bytes(frame[13:16], "big")
        te, pt = struct.unpack_from(">HH", frame, 4)
        data = frame[16 : 16 + 8 * (struct.unpack_from(">I", frame, 8)[0] & 0x1FFFFFF)]
        plain = frame[1] < 0x80 and not frame[12] & 0x80
        if plain and pt in (RRP, ERR) and dst in (self.addr, BROADCAST, BROADCAST - 1):
            if leaving:
                return
            if pt == RRP:
                self.rrp(te, src, data)
            elif te in (HRDOWN, LINKDOWN):
                self.down(te, src, data)
            return
        # a node behind the other half speaks with this one
        if plain and pt == RRP and dst == self.peer.addr and src != self.addr:
            if te not in (GVRT, RTBL) and not leaving:
                self.peer.rrp(te, src, data)
            return
        if plain and pt == RRP and te in (GVRT, RTBL) and dst == self.peer.addr and src == self.addr:
            if te == RTBL and not leaving:
                self.own(frame)
            return
        self.peer.write(frame, head)


Half.ask_at = 0


def numbers(text):
    """SAN, port, MTU and quality."""
    n = [int(a) for a in text.split(":")]
    return (n + [0, 0])[:4]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    place = [numbers(a) for a in sys.argv[2:]]
    # each half says the address of the other one: SAN n has the bias 256 * n by default
    addr = [256 * p[0] + p[1] + 1 for p in place]
    half = [Half(f"{sys.argv[1]}{i + 1}", *place[i], addr[1 - i]) for i in (0, 1)]
    poll = select.poll()
    for i in (0, 1):
        if half[i].addr != addr[i]:
            sys.exit(f"SAN {place[i][0]} has another bias")
        half[i].peer = half[1 - i]
        poll.register(half[i].fd, select.POLLIN)
    by_fd = {h.fd: h for h in half}
    # a byte for each signal makes poll() return
    woken, wake = os.pipe2(os.O_NONBLOCK)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGTERM, lambda *_: None)
    poll.register(woken, select.POLLIN)
    for h in half:
        # the table of the SAN, which names the neighbours
        h.say(message(RRP, GVRT, h.addr, h.peer.addr))
    Half.ask_at = time.monotonic() + BEAT
    print("ready", flush=True)
    leaving = False
    while True:
        wait = QUIET if leaving else max(Half.ask_at - time.monotonic(), 0)
        ready = poll.poll(wait * 1000)
        if not ready and leaving:
            return
        if not ready:
            for h in half:
                h.say(message(RRP, GVRT, h.addr, h.peer.addr))
                h.ask()
            Half.ask_at = time.monotonic() + BEAT
        for fd, event in ready:
            if event & (select.POLLHUP | select.POLLERR):
                return
            if fd == woken:
                os.read(woken, 16)
                leaving = True
                for h in half:
                    h.leave()
                continue
            try:
                got = os.read(fd, 1 << 17)
            except BlockingIOError:
                continue
            by_fd[fd].handle(got[:8], got[8:], leaving)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
