# SPDX-License-Identifier: GPL-2.0
"""packetway from Python: stations, SANs, labs, ring commands, EEP, events, and models.

Works in place: PYTHONPATH=tools/python python3 -c 'import packetway'. Netlink needs pyroute2
or the kernel's pyynl, and PyYAML; the models need neither root nor the module.
"""
from . import address, model, stations
from .eep import Message, Socket
from .errors import PacketwayError, RingError
from .events import Event, Events
from .lab import Lab, LabStation
from .netlink import Netlink
from .ring import Ring, RingResult

__version__ = "0.1"
__all__ = ["Event", "Events", "Lab", "LabStation", "Message", "Netlink", "PacketwayError", "Ring", "RingError",
           "RingResult", "Socket", "address", "model", "stations"]
