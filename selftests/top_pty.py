#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pwctl top in a terminal of its own (called by pwctl.sh): frames, sizes, the end.

top_pty.py COMMAND...: prints a line "STATUS WHAT" for each point, 0 is good.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

SECONDS = 3


def point(good, what):
    print(0 if good else 1, what, flush=True)


class Terminal:
    def __init__(self, command, rows, columns):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns, None)
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if not self.pid:
            self.own_terminal()
            os.environ["TERM"] = "xterm"
            os.execvp(command[0], command)

    def own_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(self.slave, fd)

    def resize(self, rows, columns, pid):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if pid:
            os.kill(pid, signal.SIGWINCH)

    def read(self, seconds, until=None):
        """What comes in this time, and in how many bursts."""
        end, out, bursts, last = time.monotonic() + seconds, b"", 0, 0.0
        while time.monotonic() < end and not (until and until in out):
            if not select.select([self.master], [], [], 0.02)[0]:
                continue
            got = os.read(self.master, 65536)
            now = time.monotonic()
            bursts += now - last > 0.03
            last = now
            out += got
        return out, bursts

    def end(self):
        """Exit status, what it wrote last, and whether the terminal is as it was."""
        out = b""
        for _ in range(200):
            out += self.read(0.1)[0]
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                out += self.read(0.1)[0]
                return os.waitstatus_to_exitcode(status), out, \
                    termios.tcgetattr(self.slave) == self.before
        os.kill(self.pid, signal.SIGKILL)
        return None, out, False


def rows_used(out):
    """Rows that the cursor was sent to since the screen was cleared last."""
    out = out[max(out.rfind(b"\x1b[2J"), 0):]
    return [int(r) for r in re.findall(rb"\x1b\[(\d+)(?:;\d+)?[Hd]", out)]


def main():
    command = sys.argv[1:]
    t = Terminal(command, 24, 100)
    out, _ = t.read(20, b"ring: operand")
    point(b"packetway: " in out and b"\x1b[?1049h" in out, "top: a screen")
    out, bursts = t.read(SECONDS)
    print(f"# {bursts / SECONDS:.1f} changed frames per second")
    # ten are meant; emulated machines with much to do have fewer
    point(bursts >= SECONDS, "top: frames, as long as something goes on")
    t.resize(6, 40, t.pid)
    out, _ = t.read(20, b"packetway: ")
    out += t.read(1)[0]
    point(b"packetway: " in out and max(rows_used(out), default=1) <= 6,
          "top: a smaller terminal is drawn anew, and nothing below its end")
    t.resize(40, 120, t.pid)
    out, _ = t.read(20, b"ring: operand")
    point(b"ring: operand" in out, "top: a larger one, too")
    os.write(t.master, b"q")
    status, out, restored = t.end()
    point(status == 0 and b"\x1b[?1049l" in out and restored, "top: q quits, and the terminal is as it was")

    t = Terminal(command, 24, 100)
    t.read(20, b"ring: operand")
    os.kill(t.pid, signal.SIGTERM)
    status, out, restored = t.end()
    point(status == 0 and b"\x1b[?1049l" in out and restored, "top: so does a signal")


main()
