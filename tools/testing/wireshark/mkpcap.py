#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Capture files from readable hex.

  mkpcap.py FILE.hex OUT.pcap            one frame for each message
  mkpcap.py --titles FILE.hex            the titles, one a line
  mkpcap.py --mutate SEED FILE.hex... OUT.pcap
      robustness: of every message all shorter ones, whole on the wire and cut by
      the capture, and copies with random bytes changed

A .hex file has "link N" (link type) once, then for each message "= title" and
lines of hex digits. "#" starts a comment. "wire N" says that N bytes were on the
wire and the capture has cut the rest off.
"""
import random
import struct
import sys


def load(path):
    link, messages = None, []
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        word, _, rest = line.partition(" ")
        if word == "link":
            link = int(rest)
        elif word == "=":
            messages.append([rest.strip(), b"", 0])
        elif word == "wire":
            messages[-1][2] = int(rest)
        else:
            try:
                messages[-1][1] += bytes.fromhex(line)
            except ValueError:
                sys.exit("%s:%d: not hex" % (path, number))
    if link is None or not messages:
        sys.exit("%s: no link type or no message" % path)
    return link, messages


def save(path, link, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, link))
        for i, (data, wire) in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, len(data), wire or len(data)))
            f.write(data)


def mutate(seed, paths, out):
    rnd = random.Random(seed)
    frames, links = [], set()
    for path in paths:
        link, messages = load(path)
        links.add(link)
        for _, data, _ in messages:
            for n in range(1, len(data)):
                frames.append((data[:n], 0))
                if n % 4 == 0:
                    frames.append((data[:n], len(data)))
            for _ in range(len(data)):
                bad = bytearray(data)
                for _ in range(rnd.choice((1, 1, 2, 4))):
                    bad[rnd.randrange(len(bad))] = rnd.choice(
                        (0, 1, 0x40, 0x7F, 0x80, 0xC0, 0xFF, rnd.randrange(256)))
                frames.append((bytes(bad), 0))
    if len(links) != 1:
        sys.exit("files of different link types")
    save(out, links.pop(), frames)
    print(len(frames))


def main():
    if sys.argv[1] == "--titles":
        print("\n".join(m[0] for m in load(sys.argv[2])[1]))
    elif sys.argv[1] == "--mutate":
        mutate(int(sys.argv[2]), sys.argv[3:-1], sys.argv[-1])
    else:
        link, messages = load(sys.argv[1])
        save(sys.argv[2], link, [(m[1], m[2]) for m in messages])


main()
