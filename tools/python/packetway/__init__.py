# SPDX-License-Identifier: GPL-2.0
"""packetway from Python: stations, SANs, labs, ring commands, collectives, EEP, ESP, events, captures, programs, and models.

Works in place: PYTHONPATH=tools/python python3 -c 'import packetway'. Netlink needs pyroute2
or the kernel's pyynl, and PyYAML; the models need neither root nor the module.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import address, capture, model, programs, stations
    from .capture import Capture, Record
    from .coll import Collective
    from .eep import EspReply, Message, Node, Socket, Trace
    from .errors import PacketwayError, RingError
    from .events import Event, Events
    from .lab import Lab, LabStation
    from .netlink import Netlink
    from .programs import PoetsRun, Sample, metrics
    from .ring import Bank, Latch, Ring, RingResult, TreeResult

__version__ = "0.1"
__all__ = ["Bank", "Capture", "Collective", "EspReply", "Event", "Events", "Lab", "LabStation", "Latch", "Message", "Netlink",
           "Node", "PacketwayError", "PoetsRun", "Record", "Ring", "RingError", "RingResult", "Sample", "Socket", "Trace", "TreeResult",
           "address", "capture", "metrics", "model", "programs", "stations"]

# modules are imported when a name of theirs is first used: a one-line command needs few
_HOME = {
    "Bank": "ring",
    "Capture": "capture",
    "Collective": "coll",
    "EspReply": "eep",
    "Event": "events",
    "Events": "events",
    "Lab": "lab",
    "LabStation": "lab",
    "Latch": "ring",
    "Message": "eep",
    "Node": "eep",
    "Netlink": "netlink",
    "PacketwayError": "errors",
    "PoetsRun": "programs",
    "Record": "capture",
    "Ring": "ring",
    "RingError": "errors",
    "RingResult": "ring",
    "Sample": "programs",
    "Socket": "eep",
    "Trace": "eep",
    "TreeResult": "ring",
    "metrics": "programs",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'packetway' has no attribute '{name}'")
    value = importlib.import_module("." + _HOME.get(name, name), __name__)
    if name in _HOME:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
