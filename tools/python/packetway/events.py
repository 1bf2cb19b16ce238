# SPDX-License-Identifier: GPL-2.0
"""Changes of SANs, routers, routes and ESP stores as they happen."""
from __future__ import annotations

import select
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .netlink import Netlink

if TYPE_CHECKING:  # half of the time that it takes to import the package
    import asyncio


@dataclass(frozen=True)
class Event:
    """`action` is new, set, del or ntf; `kind` is san, router, route or esp."""

    action: str
    kind: str
    object: dict[str, Any]


class Events:
    """Notifications of this network namespace, for `async for` or `wait()`.

    >>> async with Events() as events:
    ...     async for event in events:
    ...         print(event.kind, event.action)
    """

    def __init__(self, name: str | None = None) -> None:
        self._nl = Netlink(name)
        self._nl.backend.subscribe()
        self._fd = self._nl.backend.fileno()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _read(self) -> Iterator[Event]:
        for name, attrs in self._nl.backend.notifications():
            kind, _, action = name[:-4].partition("-") if name.count("-") > 1 else name.partition("-")
            value = attrs.get(kind, {})
            for one in value if isinstance(value, list) else [value]:
                if name == "route-ntf":
                    action = "del" if one.get("gone") else "new"
                yield Event(action, kind, one)

    def wait(self, timeout: float | None = None) -> list[Event]:
        """Those that have arrived; waits for the first one."""
        select.select([self._nl.backend.fileno()], [], [], timeout)
        return list(self._read())

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio

        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        self._loop = loop
        loop.add_reader(self._fd, ready.set)
        try:
            while True:
                await ready.wait()
                ready.clear()
                for event in self._read():
                    yield event
        finally:
            self._leave_loop()

    def _leave_loop(self) -> None:
        # a generator that was left may be ended after close()
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop = None

    def close(self) -> None:
        """Give the socket back."""
        self._leave_loop()
        self._nl.close()

    async def __aenter__(self) -> Events:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        self.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
