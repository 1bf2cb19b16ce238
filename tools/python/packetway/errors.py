# SPDX-License-Identifier: GPL-2.0
"""What goes wrong, with the kernel's own sentence where it gave one."""
from __future__ import annotations

import os


class PacketwayError(OSError):
    """A refusal. `errno` is the kernel's number, `extack` its sentence ("" if it gave none)."""

    extack: str

    def __init__(self, code: int, what: str, extack: str = "") -> None:
        super().__init__(code, f"{what}: {extack or os.strerror(code)}")
        self.extack = extack


class RingError(PacketwayError):
    """A command that failed on the ring; `reason` says how."""

    def __init__(self, code: int, what: str, reason: str) -> None:
        super().__init__(code, what, reason)
        self.reason = reason


def check(result: int, what: str) -> int:
    """`result`, or the exception for a negative errno."""
    if result < 0:
        raise PacketwayError(-result, what)
    return result
