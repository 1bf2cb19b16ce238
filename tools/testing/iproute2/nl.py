#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Link messages for the test of the ip plug-in.

  nl.py data FILE          print the IFLA_INFO_DATA attributes of the RTM_NEWLINK
                           request in FILE (hex) as "type:length:value" words
  nl.py link FILE T:V ...  write an RTM_NEWLINK message about a station whose
                           IFLA_INFO_DATA has the attributes T with 32-bit values V
                           (or, with V = xHEX, those bytes)
"""
import struct
import sys

RTM_NEWLINK, IFLA_ADDRESS, IFLA_IFNAME, IFLA_TXQLEN, IFLA_LINKINFO = 16, 1, 3, 13, 18
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2


def attr(typ, data):
    data = struct.pack("=HH", 4 + len(data), typ) + data
    return data + b"\0" * (-len(data) % 4)


def attrs(data):
    while len(data) >= 4:
        n, typ = struct.unpack_from("=HH", data)
        yield typ & 0x3FFF, data[4:n]
        data = data[(n + 3) & ~3:]


def find(data, typ):
    return next((v for t, v in attrs(data) if t == typ), None)


def message(typ, data):
    return struct.pack("=IHHII", 16 + len(data), typ, 0, 0, 0) + data


def main():
    verb, path = sys.argv[1:3]
    if verb == "data":
        msg = bytes.fromhex(open(path).read())
        info = find(msg[32:], IFLA_LINKINFO)
        data = find(info, IFLA_INFO_DATA) or b""
        print(find(info, IFLA_INFO_KIND).rstrip(b"\0").decode(),
              *("%d:%d:%d" % (t, len(v), int.from_bytes(v, sys.byteorder))
                for t, v in attrs(data)))
        return
    data = b""
    for word in sys.argv[3:]:
        t, v = word.split(":")
        data += attr(int(t), bytes.fromhex(v[1:]) if v[0] == "x"
                     else struct.pack("=I", int(v, 0)))
    body = struct.pack("=BxHiII", 0, 0x5057, 7, 0x1043, 0)
    body += attr(IFLA_IFNAME, b"pw5\0") + attr(IFLA_ADDRESS, b"\0\0\6")
    body += attr(IFLA_TXQLEN, struct.pack("=I", 1000))
    body += attr(IFLA_LINKINFO, attr(IFLA_INFO_KIND, b"packetway\0") + attr(IFLA_INFO_DATA, data))
    with open(path, "wb") as f:
        f.write(message(RTM_NEWLINK, body))


main()
