#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the pages say: commands and references.

pages.py commands PAGE   the commands of a page, each ended by a NUL
pages.py links TOP       TAP: every file that a page names is there
"""
import glob
import os
import re
import sys

# a line of an indented block is a command if it begins with one of these
PROGRAMS = ("bpftrace|cat|cc|cp|data=|echo|ethtool|for|head|ip|make|man|perf|ping|pwctl|pwmodel|pwrun|"
            "scripts/bench|scripts/vm|sudo|tcpdump|trace-cmd|tshark|wait|PW_[A-Z]+=\\S+ pwrun")
COMMAND = re.compile(rf"({PROGRAMS})(\s|(?<==)|$)")
# definition lists have four blanks, too: fewer words make a command there
SURE = re.compile(r"(ethtool|ip link|ip -d|pwctl|pwmodel|scripts/bench|sudo)\s")
# what a file of ours is called in a page
FILE = re.compile(r"(?<![\w/.-])((?:Documentation|drivers|include|scripts|selftests|tools|uapi)/[\w./*{},-]*[\w*}])")
PAGE = re.compile(r"(?<![\w/.-])((?:packetway[\w-]*|testing|tutorial|ring8|clos|sans|nack|teams)\.(?:rst|yaml))\b")
DIRECTORIES = ("", "Documentation", "Documentation/networking", "Documentation/userspace-api",
               "Documentation/labs")


def blocks(path):
    """Indented lines of a page, without their indentation; None where a block ends."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("\t") or (line.startswith("    ") and path.endswith(".md")):
                yield re.sub("^(\t|    )", "", line)
            elif line.startswith("    ") and SURE.match(line[4:]):
                yield line[4:]
            elif line.strip():
                yield None


def commands(path):
    """Loops, and lines that end with a backslash, are one command with what follows."""
    pending = []
    for line in blocks(path):
        if line is None:
            pending = []
            continue
        if not pending and not COMMAND.match(line):
            continue
        pending.append(line)
        loop = pending[0].startswith("for ") and not line.startswith("done")
        if not loop and not line.endswith("\\"):
            yield "\n".join(pending)
            pending = []


def pages(top):
    yield os.path.join(top, "README.md")
    for directory, _, names in sorted(os.walk(os.path.join(top, "Documentation"))):
        for name in sorted(names):
            if name.endswith(".rst"):
                yield os.path.join(directory, name)


def exists(top, name):
    name = re.sub(r"\{([^}]*)\}", "*", name)
    # made by the build, or a pattern of names in capitals
    if name.startswith("build/") or re.search(r"NAME|SUITE", name) or \
            name == "drivers/net/packetway/packetway.ko":
        return True
    return any(glob.glob(os.path.join(top, d, name + suffix))
               for d in DIRECTORIES for suffix in ("", ".c"))


def links(top):
    n = bad = 0
    for page in pages(top):
        with open(page, encoding="utf-8") as f:
            text = f.read()
        names = sorted(set(FILE.findall(text)) | set(PAGE.findall(text)))
        missing = [name for name in names if not exists(top, name)]
        n += 1
        bad += bool(missing)
        print(f"{'not ' if missing else ''}ok {n} - {os.path.relpath(page, top)}: {len(names)} files are named")
        for name in missing:
            print(f"# there is no {name}")
    print(f"1..{n}")
    return bad


if sys.argv[1] == "commands":
    for command in commands(sys.argv[2]):
        sys.stdout.write(command + "\0")
elif sys.argv[1] == "links":
    sys.exit(1 if links(sys.argv[2]) else 0)
else:
    sys.exit(__doc__)
