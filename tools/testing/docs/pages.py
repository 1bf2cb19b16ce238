#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the pages say: commands and references.

pages.py commands PAGE   the commands of a page, each ended by a NUL
pages.py links TOP       TAP: every file that a page names is there
pages.py functions TOP   TAP: every function that a page names is in the source, and
                         calls the one that an arrow leads to
pages.py chains TOP      TAP: the paths of a frame through files, in the order of calls, are
                         those of the source, and return seldom to a file that they left
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
PAGE = re.compile(r"(?<![\w/.-])((?:packetway[\w-]*|testing|tutorial|contributing|CHANGES|ring8|clos|sans|nack|teams)\.(?:rst|yaml))\b")
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


# "pw_name()", and "pw_name" where an arrow leads to it or away from it
CALL = re.compile(r"\b((?:pw|pwl|pwm|poets)_[a-z0-9_]+)\(\)")
ARROW = re.compile(r"(?:->|\|)\s*(pw_[a-z0-9_]+)\b(?![.*])|\b(pw_[a-z0-9_]+)(?:\([^)]*\))?\s*(?:->|\|)")
# any other name of ours: a structure, a variable, a tracepoint
NAME = re.compile(r"(?<![\w/.-])(pw_[a-z0-9_]*[a-z0-9])\b(?![*-])")
# a function begins in the first column, with its type before its name
FUNCTION = re.compile(r"^(?:\w[\w\s*]*?[\s*]|#define |__\w+\(.*?\) )((?:pw|pwl|pwm|poets)_\w+)\(", re.M)


# a definition: from its name to the brace in the first column
BODY = re.compile(r"^\w[\w\s*]*?[\s*](pw_\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)


def arrows(text):
    """Pairs (caller, callee); an arrow at the start of a line has the caller of the one above it."""
    above = {}
    for line in text.splitlines():
        row = {}
        for arrow in re.finditer("->", line):
            before = re.search(r"(pw_[a-z0-9_]+)\s*$", line[:arrow.start()])
            column = arrow.start()
            if before:
                row[column] = before[1]
            elif not line[:column].strip():
                row[column] = above.get(column)
            behind = re.match(r"\s*((?:pw_[a-z0-9_]+(?:\s*\|\s*)?)+)", line[arrow.end():])
            for name in re.findall(r"pw_[a-z0-9_]+", behind[1] if behind else ""):
                if row.get(column):
                    yield row[column], name
        above = {**above, **row} if row else {}


# a path in a page: rows of a file and its functions, then the number of returns
CHAIN = re.compile(r"^((?:    +[\w/.]+ +pw_.*\n(?: {9,}pw_.*\n)*)+)\n(\d+) returns? to a file already left", re.M)
ROW = re.compile(r"^    +([\w/.]+) +(pw_.*(?:\n {9,}pw_.*)*)$", re.M)
RETURNS_MAX = 5
# who takes one of these has the frame in its hands
FRAME = re.compile(r"struct (sk_buff|pw_skb_cb|pw_fab_msg|pw_eep_view) \*")
DRIVER = "drivers/net/packetway"


def definitions(top):
    """Of the module: (file, name) -> (parameters, body)."""
    found = {}
    for path in glob.glob(os.path.join(top, DRIVER, "**", "*.c"), recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for m in re.finditer(r"^\w[\w\s*]*?[\s*](pw_\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}", text, re.M | re.S):
            found[os.path.relpath(path, os.path.join(top, DRIVER)), m[1]] = m[2], m[3]
    return found


def chain_faults(rows, claimed, source, tables):
    """What is wrong with one path; @tables: text in which functions are given as operations."""
    wrong, walked, left, last, returns = [], [], set(), None, 0
    otherwise = {name for file, names in rows if file == "otherwise" for name in names}
    rows = [(file, names) for file, names in rows if file != "otherwise"]
    for file, names in rows:
        if file in left:
            returns += 1
        if last:
            left.add(last)
        if file == last:
            wrong.append(f"two rows for {file}, one behind the other")
        last = file
        for name in names:
            # a folder of the core is one place: what goes on there has pages of its own
            at = [(path, n) for path, n in source if n == name and
                  (path == file or (file.endswith("/") and path.startswith(file)))]
            if not at:
                wrong.append(f"{file} has no {name}")
                continue
            if not any(re.search(rf"\b{name}\(", source[w][1]) for w in walked) and \
                    not re.search(rf"(?:=|,) *{name}\b", tables) and not file.endswith("/"):
                wrong.append(f"no function before it calls {name}")
            walked += at
    listed = {name for _, name in walked}
    takes = {name for (path, name), (params, _) in source.items() if FRAME.search(params)}
    for path, name in walked:
        if path.startswith("core/"):
            continue
        called = set(re.findall(r"\b(pw_\w+)\(", source[path, name][1])) & takes
        wrong += [f"{name} calls {other}" for other in sorted(called - listed - otherwise)]
    if returns != claimed:
        wrong.append(f"{returns} returns, not {claimed}")
    if returns > RETURNS_MAX:
        wrong.append(f"more than {RETURNS_MAX} returns")
    return wrong


def chains(top):
    source = definitions(top)
    tables = ""
    for path in glob.glob(os.path.join(top, DRIVER, "*.c")):
        with open(path, encoding="utf-8") as f:
            tables += f.read()
    with open(os.path.join(top, "Documentation/networking/packetway.rst"), encoding="utf-8") as f:
        found = CHAIN.findall(f.read())
    bad = len(found) != 2
    print(f"{'not ' if bad else ''}ok 1 - {len(found)} paths of a frame are in the page")
    for n, (text, claimed) in enumerate(found, 2):
        rows = [(file, names.split()) for file, names in ROW.findall(text)]
        wrong = chain_faults(rows, int(claimed), source, tables)
        bad += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - from {rows[0][1][0]}: {claimed} returns to a file already left")
        for what in wrong:
            print(f"# {what}")
    print(f"1..{len(found) + 1}")
    return bad


def sources(top):
    for directory in ("drivers", "include", "uapi", "tools", "selftests"):
        yield from glob.glob(os.path.join(top, directory, "**", "*.[ch]"), recursive=True)


def functions(top):
    defined, known, bodies = set(), set(), {}
    for path in sources(top):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        defined |= set(FUNCTION.findall(text))
        known |= set(re.findall(r"\bpw_[a-z0-9_]+\b", text))
        bodies.update(BODY.findall(text))
    bad = 0
    if not {"pw_eep_parse", "pwl_open"} <= defined:
        print("not ok 1 - functions are found in the source")
        print("1..1")
        return 1
    manual = sorted(glob.glob(os.path.join(top, "tools/man/*.[0-9]")))
    for n, page in enumerate([*pages(top), *manual], 1):
        with open(page, encoding="utf-8") as f:
            text = f.read().replace("\\", "")
        called = set(CALL.findall(text))
        for line in text.splitlines():
            called |= {a or b for a, b in ARROW.findall(line) if "->" in line}
        missing = sorted(name for name in called if name not in defined)
        missing += sorted(name for name in set(NAME.findall(text)) - called if name not in known)
        wrong = [f"{a} does not call {b}" for a, b in arrows(text)
                 if a in bodies and b in bodies and not re.search(rf"\b{b}\b", bodies[a])]
        wrong += [f"the source has no {name}" for name in missing]
        bad += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {os.path.relpath(page, top)}: {len(called)} functions are named")
        for what in wrong:
            print(f"# {what}")
    print(f"1..{n}")
    return bad


if sys.argv[1] == "commands":
    for command in commands(sys.argv[2]):
        sys.stdout.write(command + "\0")
elif sys.argv[1] in ("links", "functions", "chains"):
    sys.exit(1 if globals()[sys.argv[1]](sys.argv[2]) else 0)
else:
    sys.exit(__doc__)
