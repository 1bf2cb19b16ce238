#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What `pwmodel fabric --vcd` and `--trace` write, against its table of messages.

look.py vcd FILE TABLE [SIGNALS]   a value change dump
look.py trace FILE TABLE           events as JSON

Prints a line "ok WHAT" or "not ok WHAT" for each point.
"""
import csv
import json
import sys

CELL = 53
PORTS = 16


def check(good, what):
    print("ok" if good else "not ok", what)


def cells(length):
    """Cells of a message: 20 bytes of header and 36 bytes a cell."""
    return (length + 20 + 35) // 36


def table(path):
    with open(path, encoding="ascii") as f:
        return [{k: int(v) for k, v in row.items()} for row in csv.DictReader(f)]


def read_vcd(path):
    """Names by identifier with their widths, and the changes as (cycle, name, value)."""
    scope, names, changes = [], {}, []
    cycle = None
    with open(path, encoding="ascii") as f:
        for line in f:
            word = line.split()
            if word[0] == "$scope":
                scope.append(word[2])
            elif word[0] == "$upscope":
                scope.pop()
            elif word[0] == "$var":
                assert word[3] not in names, "an identifier is used twice"
                names[word[3]] = (".".join(scope + [word[4]]), int(word[2]))
            elif word[0].startswith("$"):
                continue
            elif line[0] == "#":
                assert cycle is None or int(line[1:]) > cycle, "time goes back"
                cycle = int(line[1:])
            elif line[0] == "b":
                name, bits = names[word[1]]
                assert 0 < len(word[0]) - 1 <= bits
                changes.append((cycle, name, int(word[0][1:], 2)))
            else:
                name, bits = names[word[0][1:]]
                assert bits == 1
                changes.append((cycle, name, int(line[0])))
    assert not scope
    return names, changes


def cycles_high(changes, name, end):
    """Cycles in which a signal of one bit is 1."""
    high, since = [], None
    for cycle, what, value in changes:
        if what != name:
            continue
        if since is not None:
            high += range(since, cycle)
        since = cycle if value else None
    if since is not None:
        high += range(since, end + 1)
    return high


def vcd(path, rows, wanted):
    names, changes = read_vcd(path)
    found = {name for name, _ in names.values()}
    if wanted:
        with open(wanted, encoding="ascii") as f:
            check(found == set(f.read().split()), "the listed signals and no others")
        return
    expected = {f"aal{p}.state{c}" for p in range(PORTS) for c in range(11)}
    expected |= {f"ppd{r}.xpm{q}.size" for r in range(3 * PORTS) for q in range(4)}
    expected |= {f"{u}{r}.{s}" for r in range(3 * PORTS)
                 for u, s in (("ppd", "suspend"), ("spd", "byte"), ("spd", "byteind"))}
    check(expected <= found, "states, queues and links of the whole network")
    last = {}
    repeated = 0
    for _, name, value in changes:
        repeated += last.get(name) == value
        last[name] = value
    check(not repeated, "only changes are written")
    check({c for c, _, _ in changes} >= {0} and len(last) == len(found),
          "every signal has a value at the start")
    end = changes[-1][0]
    # port 0 sends the cells of its message and one acknowledgment of the broadcast
    high = cycles_high(changes, "aal0.ogbytei", end)
    mine = sum(cells(r["bytes"]) for r in rows if r["src"] == 0)
    other = sum(cells(r["bytes"]) for r in rows if r["src"] != 0 and r["dst"] in (0, -1))
    check(len(high) == CELL * (mine + other), f"{mine + other} cells leave port 0, byte by byte")
    first = min(r["first_cell_out"] for r in rows if r["src"] == 0)
    check(high[0] - first in (0, 1), f"the first byte in cycle {first}")
    check(all(v == 0 for n, v in last.items() if n.endswith(".size")), "all queues are empty at the end")
    check(any(v for _, n, v in changes if n.endswith(".size")), "and were not before")


def trace(path, rows):
    with open(path, encoding="ascii") as f:
        root = json.load(f)
    events = root["traceEvents"]
    check(root["displayTimeUnit"] == "ns", "a cycle is a nanosecond")
    good = True
    for e in events:
        good &= {"name", "ph", "ts", "pid", "tid"} <= e.keys() and e["ph"] in "MXibe"
        good &= e["ts"] >= 0 and isinstance(e["pid"], int) and isinstance(e["tid"], int)
        good &= "dur" in e if e["ph"] == "X" else True
        good &= e.get("s") == "t" if e["ph"] == "i" else True
        good &= {"cat", "id"} <= e.keys() if e["ph"] in "be" else True
    check(good, "every event has the members of its kind")
    spans = {}
    for e in events:
        if e["ph"] in "be":
            spans.setdefault((e["id"], e["name"]), {})[e["ph"]] = round(1000 * e["ts"])
    check(all(s.keys() == {"b", "e"} and s["b"] <= s["e"] for s in spans.values()),
          "every span begins and ends")
    # a viewer takes an end as that of the innermost span; of events in one cycle the first comes first
    inside = {}
    nested = True
    for e in sorted((e for e in events if e["ph"] in "be"), key=lambda e: e["ts"]):
        stack = inside.setdefault((e["cat"], e["id"]), [])
        if e["ph"] == "b":
            stack.append(e["name"])
        else:
            nested &= stack[-1:] == [e["name"]]
            stack[-1:] = []
    check(nested and not any(inside.values()), "spans of an id are inside each other or apart")
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    place = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    check(named == place.keys() and all(place[row] == row[1] for row in named), "rows are in the order of their numbers")
    check({(e["pid"], e["tid"]) for e in events} - {(p, 0) for p in (1, 2, 3)} <= named, "every row has a name")
    same = 0
    for i, r in enumerate(rows):
        name = f"{r['src']} to {r['dst'] if r['dst'] >= 0 else 'all'}"
        same += spans[i, name] == {"b": r["start"], "e": max(r["acked"], r["delivered"])}
        same += spans[i, "pack"] == {"b": r["start"], "e": r["segmented"]}
        same += spans[i, "first cell"] == {"b": r["first_cell_out"], "e": r["first_cell_in"]}
        same += spans[i, "read"] == {"b": r["reassembled"], "e": r["delivered"]}
    check(same == 4 * len(rows), "spans are those of the table")

    def count(name):
        return sum(e["name"] == name for e in events)

    sent = sum(cells(r["bytes"]) for r in rows)
    acks = sum(cells(r["bytes"]) * (1 if r["dst"] >= 0 else PORTS) for r in rows)
    check(count("cell sent") == sent, f"{sent} cells are sent")
    check(count("acknowledgment sent") == acks, f"{acks} acknowledgments are sent")
    check(count("acknowledged") == acks, "and arrive")
    # a broadcast has one copy in the first stage, 4 in the second or 1, 16 in the third at most
    hops = {s: sum(e["name"] == "cell" and e["tid"] // PORTS == s for e in events if e["ph"] == "X")
            for s in range(3)}
    check(hops[0] == sent + acks, "each enters the first stage once")
    check(hops[2] >= hops[1] >= hops[0], "copies are made on the way")
    busy = {}
    clash = 0
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
        clash += round(1000 * e["ts"]) < busy.get(e["tid"], 0)
        busy[e["tid"]] = round(1000 * (e["ts"] + e["dur"]))
    check(not clash, "an input unit has one cell at a time")


def main():
    rows = table(sys.argv[3])
    if sys.argv[1] == "vcd":
        vcd(sys.argv[2], rows, sys.argv[4] if len(sys.argv) > 4 else None)
    else:
        trace(sys.argv[2], rows)


main()
