#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""check.py [--write]: the syzlang descriptions here and the uapi headers agree.

The compiler says what the headers mean. Sizes: every structure here that has the name
of one of uapi/linux/packetway.h has its members, in order, at the same offsets. Values:
the .const files are what the headers have (--write makes them). Completeness: every
ioctl, command and attribute that a program may send occurs.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
UAPI = os.path.join(HERE, "../../../uapi")
HEADERS = ("packetway.h", "packetway_netlink.h", "packetway_eep.h")
FILES = ("dev_packetway.txt", "socket_packetway.txt")
OURS = re.compile(r"\b((?:PACKETWAY|PW|IFLA_PACKETWAY|IFLA_PWMON)_[A-Z0-9_]+)\b")
SIZES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "ifindex_packetway": 4}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def strip(text):
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def compile_and_run(body):
    with tempfile.TemporaryDirectory() as tmp:
        src = os.path.join(tmp, "a.c")
        with open(src, "w", encoding="utf-8") as f:
            f.write("#include <stdio.h>\n#include <stddef.h>\n")
            f.writelines(f"#include <linux/{h}>\n" for h in HEADERS)
            f.write("int main(void)\n{\n" + body + "\treturn 0;\n}\n")
        exe = os.path.join(tmp, "a")
        subprocess.run(["gcc", "-w", "-I", UAPI, "-o", exe, src], check=True)
        return subprocess.run([exe], check=True, capture_output=True, text=True).stdout


def values(names):
    body = "".join(f'\tprintf("{n} %llu\\n", (unsigned long long)({n}));\n' for n in names)
    return dict((n, int(v)) for n, v in (line.split() for line in compile_and_run(body).splitlines()))


def split_args(s):
    """The arguments of a type, split at commas outside brackets."""
    out, depth, cur = [], 0, ""
    for ch in s:
        depth += (ch == "[") - (ch == "]")
        if ch == "," and not depth:
            out.append(cur.strip())
            cur = ""
        else:
            cur += ch
    return out + [cur.strip()]


def size_of(kind, consts):
    m = re.match(r"^(\w+)(?:\[(.*)\])?$", kind)
    name, args = m.group(1), split_args(m.group(2)) if m.group(2) else []
    if name in SIZES:
        return SIZES[name]
    if name == "ptr64":
        return 8
    if name in ("const", "flags", "bytesize", "len"):
        return SIZES[args[1]]
    if name == "array":
        n = consts[args[1]] if args[1] in consts else int(args[1], 0)
        return n * size_of(args[0], consts)
    raise ValueError(f"size of {kind} is not known")


def main():
    bad = 0
    texts = {f: strip(read(os.path.join(HERE, f))) for f in FILES}
    headers = {h: read(os.path.join(UAPI, "linux", h)) for h in HEADERS}

    consts = {}
    for name, text in texts.items():
        # the part of a call's name behind the dollar sign is no constant, unless it is used as one
        used = sorted(set(OURS.findall(re.sub(r"^\w+\$\w+", "", text, flags=re.M))))
        # a union's members are named for people
        used = [u for u in used if re.search(rf"[\[ ,:]{u}\b", re.sub(r"^\t\w+", "", text, flags=re.M))]
        consts[name] = values(used)
        path = os.path.join(HERE, name + ".const")
        want = "# SPDX-License-Identifier: GPL-2.0\n# made by check.py --write\narches = amd64, arm64\n"
        want += "".join(f"{n} = {v}\n" for n, v in sorted(consts[name].items()))
        if "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(want)
        elif not os.path.exists(path) or read(path) != want:
            print(f"not ok - {name}.const has the values of the headers (check.py --write makes it)")
            bad = 1
    known = {n: v for c in consts.values() for n, v in c.items()}

    # structures
    structs = re.findall(r"^(packetway_\w+) \{\n(.*?)^\}( \[packed\])?", "\n".join(texts.values()), flags=re.M | re.S)
    in_uapi = set(re.findall(r"^struct (packetway_\w+) \{", headers["packetway.h"], flags=re.M))
    layout = {}
    for name, body, _ in structs:
        if name not in in_uapi:
            continue
        off, fields, widest = 0, [], 1
        for line in body.strip().splitlines():
            field, kind = line.split(None, 1)
            size = size_of(kind.strip(), known)
            inner = re.search(r"int(8|16|32|64)\]?(?:, \w+\])?$", kind)
            align = min(size, 8) if not kind.startswith("array") else int(inner.group(1)) // 8 if inner else 1
            off = (off + align - 1) // align * align
            fields.append((field, off))
            widest = max(widest, align)
            off += size
        layout[name] = fields + [("the end", (off + widest - 1) // widest * widest)]
    code = ""
    for name, fields in layout.items():
        code += "".join(f'\tprintf("%zu\\n", offsetof(struct {name}, {f}));\n' for f, _ in fields[:-1])
        code += f'\tprintf("%zu\\n", sizeof(struct {name}));\n'
    real = iter(int(x) for x in compile_and_run(code).split())
    for name, fields in layout.items():
        for field, off in fields:
            r = next(real)
            if off != r:
                print(f"not ok - {field} of {name} is at {r}, not at {off}")
                bad = 1
    checked = set(layout)
    # these are not passed by system calls: mapped pages and records of monitors
    for name in sorted(in_uapi - checked - {"packetway_aton_operands", "packetway_aton_slot", "packetway_aton_page", "packetway_aton_latch", "packetway_aton_leased",
                                            "packetway_mon_hdr", "packetway_time_page"}):
        print(f"not ok - struct {name} is described")
        bad = 1

    # completeness
    text = "\n".join(texts.values())
    want = set(re.findall(r"^#define (PACKETWAY_IOC_\w+)\s+_IO\(", headers["packetway.h"], flags=re.M))
    want |= set(re.findall(r"\b(PACKETWAY_CMD_\w+)\b(?=,)", headers["packetway_netlink.h"]))
    want |= set(re.findall(r"\b(IFLA_(?:PACKETWAY|PWMON)_\w+)\b(?=,)", headers["packetway.h"]))
    # attributes that a program may send: those that the header does not call reply only or a dump's
    for attr, about in re.findall(r"^ \* (PACKETWAY_A_(?:SAN|ESP|ROUTER|TRUNK|HALF|ROUTE|NODE)_\w+)\t+(.*(?:\n \*\t\t+.*)*)",
                                  headers["packetway_netlink.h"], flags=re.M):
        if "reply only" not in about and "notifications" not in about:
            want.add(attr)
    no_request = {"PACKETWAY_CMD_UNSPEC", "PACKETWAY_CMD_ROUTE_NTF", "PACKETWAY_A_ROUTE_TO", "PACKETWAY_A_ROUTE_SERIAL",
                  "PACKETWAY_A_ROUTE_BEST", "PACKETWAY_A_ROUTE_VIA", "PACKETWAY_A_ROUTE_L2RH", "PACKETWAY_A_ROUTE_STATIC",
                  "PACKETWAY_A_NODE_RECORDS", "PACKETWAY_A_NODE_LOCAL"}
    for name in sorted(want - no_request):
        if name.endswith(("_UNSPEC", "_PAD")):
            continue
        if not re.search(rf"\[{name}\b", text):
            print(f"not ok - {name} is described")
            bad = 1
    if not bad:
        print(f"ok - {len(checked)} structures, {len(known)} constants, {len(want - no_request)} names agree with the headers")
    return bad


if __name__ == "__main__":
    sys.exit(main())
