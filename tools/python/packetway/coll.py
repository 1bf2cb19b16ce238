# SPDX-License-Identifier: GPL-2.0
"""Barriers, reductions and broadcasts among processes, one at each of some stations of a ring."""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import TracebackType
from typing import overload

from . import _lib
from .errors import PacketwayError, check

_MASK = (1 << 64) - 1


class Collective:
    """One of `size` processes that open the same name, each at another station of one ring.

    All call the same methods in the same order. A result is of all members, or the call raises
    PacketwayError: EPIPE if a member has ended, ETIMEDOUT after `timeout` seconds (None: no
    limit), EPROTO if members call different things; after that ENOTCONN.

    >>> with Collective("pw0", "job", 4) as c:
    ...     c.sum(c.rank)
    """

    def __init__(self, station: str, name: str, size: int, *, timeout: float | None = 60.0) -> None:
        self._lib = _lib.packetway()
        self._c = ctypes.c_void_p()
        self.station, self.name = station, name
        check(self._lib.pwl_coll_open(ctypes.byref(self._c), station.encode(), name.encode(), size, self._ms(timeout)),
              f"collective '{name}' at {station}")
        self.rank = int(self._lib.pwl_coll_rank(self._c))
        self.size = int(self._lib.pwl_coll_size(self._c))

    @staticmethod
    def _ms(timeout: float | None) -> int:
        return -1 if timeout is None else int(timeout * 1000)

    def close(self) -> None:
        """Leave, when the others have the results of the last call."""
        if self._c:
            self._lib.pwl_coll_close(self._c)
            self._c = ctypes.c_void_p()

    def __enter__(self) -> Collective:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def _member(self) -> ctypes.c_void_p:
        if not self._c:
            raise ValueError(f"collective '{self.name}' is closed")
        return self._c

    def _check(self, result: int) -> None:
        check(result, f"collective '{self.name}' at {self.station}")

    def set_timeout(self, timeout: float | None) -> None:
        """How many seconds each call may take from now on."""
        self._lib.pwl_coll_timeout(self._member(), self._ms(timeout))

    def barrier(self) -> None:
        """Wait until all members have called this."""
        self._check(self._lib.pwl_coll_barrier(self._member()))

    def _ints(self, op: int, values: Sequence[int], signed: bool) -> list[int]:
        low, high = (-(1 << 63), 1 << 63) if signed else (0, 1 << 64)
        if any(not low <= v < high for v in values):
            raise OverflowError(f"a {'signed' if signed else 'unsigned'} integer of more than 64 bits")
        w = (ctypes.c_uint64 * len(values))(*[v & _MASK for v in values])
        call = self._lib.pwl_coll_i64 if signed else self._lib.pwl_coll_u64
        self._check(call(self._member(), op, w, len(values)))
        return [v - (1 << 64) if signed and v >> 63 else v for v in w]

    def _floats(self, op: int, values: Sequence[float]) -> list[float]:
        x = (ctypes.c_double * len(values))(*values)
        self._check(self._lib.pwl_coll_double(self._member(), op, x, len(values)))
        return list(x)

    @overload
    def reduce(self, op: str, values: int, *, signed: bool = True) -> int:
        ...

    @overload
    def reduce(self, op: str, values: float, *, signed: bool = True) -> float:
        ...

    @overload
    def reduce(self, op: str, values: Sequence[int], *, signed: bool = True) -> list[int]:
        ...

    @overload
    def reduce(self, op: str, values: Sequence[float], *, signed: bool = True) -> list[float]:
        ...

    def reduce(self, op: str, values: float | Sequence[float], *,
               signed: bool = True) -> float | list[int] | list[float]:
        """`add`, `min`, `max`, and for integers `and`, `or`, over all members; of each value of a list by itself.

        Integers have 64 bits, and sums of them are modulo 2^64. If there is a float, all are: sums
        are exact and rounded once, the same bits in any order.
        """
        code = check(self._lib.pwl_aton_op_parse(op.encode()), f"operation '{op}'")
        if isinstance(values, (int, float)):
            one: float | list[float] = self.reduce(op, [values], signed=signed)
            assert isinstance(one, list)
            return one[0]
        ints = [v for v in values if isinstance(v, int)]
        return self._ints(code, ints, signed) if len(ints) == len(values) else self._floats(code, values)

    @overload
    def sum(self, values: int) -> int:
        ...

    @overload
    def sum(self, values: float) -> float:
        ...

    @overload
    def sum(self, values: Sequence[int]) -> list[int]:
        ...

    @overload
    def sum(self, values: Sequence[float]) -> list[float]:
        ...

    def sum(self, values: float | Sequence[float]) -> float | list[int] | list[float]:
        """The sum over all members."""
        return self.reduce("add", values)

    def bcast(self, value: int = 0, root: int = 0) -> int:
        """The integer of rank `root`, 0 to 2^64 - 1; the others' do not count."""
        w = ctypes.c_uint64(value)
        self._check(self._lib.pwl_coll_bcast(self._member(), root, ctypes.byref(w), 1))
        return w.value


__all__ = ["Collective", "PacketwayError"]
