# SPDX-License-Identifier: GPL-2.0
"""packetway from Python: stations, SANs, labs, ring commands, EEP, events, captures, and models.

Works in place: PYTHONPATH=tools/python python3 -c 'import packetway'. Netlink needs pyroute2
or the kernel's pyynl, and PyYAML; the models need neither root nor the module.
"""
from . import address, capture, model, stations
from .capture import Capture, Record
from .eep import Message, Socket
from .errors import PacketwayError, RingError
from .events import Event, Events
from .lab import Lab, LabStation
from .netlink import Netlink
from .ring import Ring, RingResult

__version__ = "0.1"
__all__ = ["Capture", "Event", "Events", "Lab", "LabStation", "Message", "Netlink", "PacketwayError", "Record", "Ring",
           "RingError", "RingResult", "Socket", "address", "capture", "model", "stations"]
