# SPDX-License-Identifier: GPL-2.0
"""The shared libraries, loaded when they are first used."""
from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_U8, _U16, _U32, _U64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
HOPS_MAX = 32


class Aton(ctypes.Structure):
    """struct pwl_aton."""

    _fields_ = [("op", _U32), ("reg", _U32), ("mods", _U32), ("dst", _U32), ("comparand", _U64),
                ("timeout_ms", _U32), ("user_data", _U64)]


class Result(ctypes.Structure):
    """struct pwl_result."""

    _fields_ = [("user_data", _U64), ("error", _U32), ("flags", _U32), ("counter", _U64), ("v1", _U64),
                ("v2", _U64), ("wait", _U64), ("ring_bits", _U64)]


class Latch(ctypes.Structure):
    """struct pwl_latch."""

    _fields_ = [("op", _U32), ("flags", _U32), ("src", _U32), ("runs", _U64), ("counter", _U64), ("before", _U64),
                ("with_", _U64), ("time", _U64)]


class Reduced(ctypes.Structure):
    """struct pwl_reduced."""

    _fields_ = [("error", _U32), ("flags", _U32), ("sans", _U32), ("missing", _U32), ("reason", _U32), ("san", _U32),
                ("counter", _U64), ("v1", _U64), ("v2", _U64)]


class Eep(ctypes.Structure):
    """struct pwl_eep."""

    _fields_ = [("dst", _U32), ("src", _U32), ("pt", _U16), ("te", _U16), ("prio", _U8), ("e", _U8), ("flags", _U32),
                ("ei", _U64), ("route", ctypes.c_char_p), ("route_len", _U32), ("data", ctypes.c_void_p),
                ("len", ctypes.c_size_t), ("crc_bad", ctypes.c_int), ("nhops", _U32), ("hops", _U32 * HOPS_MAX),
                ("stamp", _U64)]


class Esp(ctypes.Structure):
    """struct pwl_esp."""

    _fields_ = [("ctl", _U8), ("opcode", _U8), ("op", _U8)] + [(name, _U64) for name in (
        "tag", "thresh", "val", "val_tag", "cnt_tag", "sib_tag", "fwd_tag", "fwd_thresh", "comp_tag", "pkt_id")]


class Capa(ctypes.Structure):
    """struct pwl_capa."""

    _fields_ = [("code", _U8), ("len", _U8), ("param", _U8 * 30)]


class Range(ctypes.Structure):
    """struct pwl_range."""

    _fields_ = [("first", _U32), ("last", _U32)]


class Node(ctypes.Structure):
    """struct pwl_node."""

    _fields_ = [("addr", _U32), ("name", ctypes.c_char * 128), ("ncapa", _U32), ("capa", Capa * 16),
                ("ngroups", _U32), ("group", Range * 128)]


class Query(ctypes.Structure):
    """struct pwl_query."""

    _fields_ = [("name", ctypes.c_char_p), ("capability", _U8), ("group", _U32)]


FOUND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Node), ctypes.c_void_p)


class Bank(ctypes.Structure):
    """struct packetway_aton_get."""

    _fields_ = [("size", _U32), ("flags", _U32), ("out_operand", _U64 * 16), ("out_counter", _U64), ("out_v1", _U64),
                ("out_v2", _U64), ("out_ring_time", _U64), ("out_command", _U32), ("out_status", _U32), ("out_id", _U32),
                ("out_group", _U32), ("out_interfaces", _U32), ("out_irq_mask", _U32)]


class CoreCommand(ctypes.Structure):
    """struct pwc_ring of pwcore.c."""

    _fields_ = [("engine", _U32), ("propagation", _U32), ("op", _U32), ("mods", _U32), ("heights", _U32),
                ("ops", _U8 * 32), ("comparand", _U64), ("error", _U32), ("flags", _U32), ("counter", _U64),
                ("v1", _U64), ("v2", _U64), ("ring_bits", _U64)]


class CoreFabric(ctypes.Structure):
    """struct pwc_fabric of pwcore.c."""

    _fields_ = [("fast", _U32), ("pack", _U32), ("unpack", _U32), ("published", _U32), ("nparams", _U32),
                ("names", ctypes.POINTER(ctypes.c_char_p)), ("values", ctypes.POINTER(_U32)), ("wrong", ctypes.c_char_p)]


class CoreMessage(ctypes.Structure):
    """struct pwc_message of pwcore.c."""

    _fields_ = [("cycle", _U64), ("src", _U32), ("dst", ctypes.c_int32), ("bytes", _U32), ("arrived", _U32),
                ("start", _U64), ("segmented", _U64), ("first_out", _U64), ("first_in", _U64), ("reassembled", _U64),
                ("delivered", _U64), ("acked", _U64)]


def _dirs() -> list[Path]:
    build = os.environ.get("PACKETWAY_BUILD")
    # in place: tools/python/packetway of a checkout whose tools were built
    return ([Path(build)] if build else []) + [_HERE.parents[2] / "build"]


def program(name: str) -> str:
    """A program of the tools: of the build directory, else from PATH."""
    return next((str(d / name) for d in _dirs() if (d / name).is_file()), name)


def _candidates(name: str, soname: str) -> list[str]:
    out = [str(d / soname) for d in _dirs() if (d / soname).is_file()]
    found = ctypes.util.find_library(name)
    return out + ([found] if found else []) + [soname]


def _load(name: str, soname: str) -> ctypes.CDLL:
    error: OSError = OSError(f"lib{name} is not there")
    for path in _candidates(name, soname):
        try:
            return ctypes.CDLL(path)
        except OSError as e:
            error = e
    raise OSError(f"lib{name}: {error}; build it with `make tools`, or install packetway-tools")


@functools.lru_cache(None)
def packetway() -> ctypes.CDLL:
    """libpacketway: sessions with stations, EEP."""
    lib = _load("packetway", "libpacketway.so.0")
    p = ctypes.c_void_p
    lib.pwl_version.restype = ctypes.c_char_p
    lib.pwl_open.argtypes = [ctypes.POINTER(p), ctypes.c_char_p]
    lib.pwl_close.argtypes = [p]
    lib.pwl_close.restype = None
    lib.pwl_fd.argtypes = [p]
    lib.pwl_aton.argtypes = [p, ctypes.POINTER(Aton), ctypes.POINTER(Result)]
    lib.pwl_aton_reduce.argtypes = [p, ctypes.POINTER(Aton), _U32, _U32, ctypes.POINTER(Reduced)]
    lib.pwl_aton_latch.argtypes = [p, _U32, ctypes.POINTER(Latch)]
    lib.pwl_aton_sort.argtypes = [p, ctypes.POINTER(Aton), ctypes.POINTER(_U64), _U32, ctypes.POINTER(Result)]
    lib.pwl_aton_majority.argtypes = [p, ctypes.POINTER(Aton), ctypes.POINTER(_U64), ctypes.POINTER(Result)]
    lib.pwl_aton_tree.argtypes = [p, ctypes.POINTER(Aton), ctypes.c_char_p, _U32, ctypes.POINTER(Result)]
    lib.pwl_aton_tree_nodes.argtypes = [p, ctypes.POINTER(Aton), ctypes.c_char_p, _U32, ctypes.POINTER(Result)]
    lib.pwl_aton_submit.argtypes = [p, ctypes.POINTER(Aton), _U32]
    lib.pwl_aton_results.argtypes = [p, ctypes.POINTER(Result), _U32, ctypes.c_int]
    lib.pwl_aton_stand.argtypes = [p, ctypes.POINTER(Aton), _U32]
    lib.pwl_aton_unstand.argtypes = [p]
    lib.pwl_bank.argtypes = [p, ctypes.POINTER(Bank)]
    lib.pwl_aton_op_parse.argtypes = [ctypes.c_char_p]
    lib.pwl_aton_op_name.argtypes = [_U32]
    lib.pwl_aton_op_name.restype = ctypes.c_char_p
    lib.pwl_aton_strerror.argtypes = [_U32]
    lib.pwl_aton_strerror.restype = ctypes.c_char_p
    lib.pwl_map.argtypes = [p]
    lib.pwl_standing.argtypes = [p, ctypes.POINTER(Result), ctypes.POINTER(_U64)]
    lib.pwl_set.argtypes = [p, _U32, _U64]
    lib.pwl_get.argtypes = [p, _U32, ctypes.POINTER(_U64)]
    lib.pwl_set_group.argtypes = [p, _U32]
    lib.pwl_coll_open.argtypes = [ctypes.POINTER(p), ctypes.c_char_p, ctypes.c_char_p, _U32, ctypes.c_int]
    lib.pwl_coll_close.argtypes = [p]
    lib.pwl_coll_close.restype = None
    lib.pwl_coll_timeout.argtypes = [p, ctypes.c_int]
    lib.pwl_coll_timeout.restype = None
    for name in ("rank", "size"):
        getattr(lib, "pwl_coll_" + name).argtypes = [p]
        getattr(lib, "pwl_coll_" + name).restype = _U32
    lib.pwl_coll_barrier.argtypes = [p]
    lib.pwl_coll_u64.argtypes = [p, _U32, ctypes.POINTER(_U64), _U32]
    lib.pwl_coll_i64.argtypes = [p, _U32, ctypes.POINTER(_U64), _U32]
    lib.pwl_coll_double.argtypes = [p, _U32, ctypes.POINTER(ctypes.c_double), _U32]
    lib.pwl_coll_bcast.argtypes = [p, _U32, ctypes.POINTER(_U64), _U32]
    lib.pwl_eep_build.argtypes = [ctypes.POINTER(Eep), ctypes.c_char_p, ctypes.c_size_t]
    lib.pwl_eep_build.restype = ctypes.c_ssize_t
    lib.pwl_eep_parse.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Eep),
                                  ctypes.POINTER(ctypes.c_char_p)]
    lib.pwl_sock_open.argtypes = [ctypes.POINTER(p), ctypes.c_char_p]
    lib.pwl_sock_close.argtypes = [p]
    lib.pwl_sock_close.restype = None
    lib.pwl_sock_fd.argtypes = [p]
    lib.pwl_sock_addr.argtypes = [p]
    lib.pwl_sock_addr.restype = _U32
    lib.pwl_sock_mtu.argtypes = [p]
    lib.pwl_sock_mtu.restype = _U32
    lib.pwl_sock_join.argtypes = [p, _U32]
    lib.pwl_find.argtypes = [p, ctypes.POINTER(Query), FOUND, p, ctypes.c_int]
    lib.pwl_describe.argtypes = [p, ctypes.POINTER(Node)]
    lib.pwl_send.argtypes = [p, ctypes.POINTER(Eep)]
    lib.pwl_recv.argtypes = [p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Eep), ctypes.c_int]
    lib.pwl_esp_call.argtypes = [p, _U32, ctypes.POINTER(Esp), ctypes.c_int]
    lib.pwl_esp_parse_name.argtypes = [ctypes.c_char_p]
    lib.pwl_esp_op_parse.argtypes = [_U8, ctypes.c_char_p]
    lib.pwl_te_name.argtypes = [_U16, _U16]
    lib.pwl_te_name.restype = ctypes.c_char_p
    return lib


@functools.lru_cache(None)
def core() -> ctypes.CDLL:
    """libpwcore: the models."""
    lib = _load("pwcore", "libpwcore.so.0")
    lib.pwc_ring_run.argtypes = [ctypes.POINTER(CoreCommand), ctypes.POINTER(_U64), _U32, ctypes.POINTER(_U64)]
    lib.pwc_ring_run_as.argtypes = [ctypes.POINTER(CoreCommand), ctypes.POINTER(_U64), _U32, ctypes.POINTER(_U64),
                                    ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_U32), _U32]
    p = ctypes.c_void_p
    lib.pwc_fabric_run.argtypes = [ctypes.POINTER(CoreFabric), ctypes.POINTER(CoreMessage), _U32]
    lib.pwc_esp_new.argtypes = [_U64, _U64, _U64]
    lib.pwc_esp_new.restype = p
    lib.pwc_esp_free.argtypes = [p]
    lib.pwc_esp_free.restype = None
    lib.pwc_esp_opcode.argtypes = [ctypes.c_char_p]
    lib.pwc_esp_operator.argtypes = [_U32, ctypes.c_char_p]
    lib.pwc_esp_field.argtypes = [_U32, ctypes.c_char_p]
    lib.pwc_esp_verdict.argtypes = [_U32]
    lib.pwc_esp_verdict.restype = ctypes.c_char_p
    lib.pwc_esp_field_name.argtypes = [_U32]
    lib.pwc_esp_field_name.restype = ctypes.c_char_p
    lib.pwc_esp_exec.argtypes = [p, _U64, _U32, _U32, ctypes.POINTER(_U64), ctypes.POINTER(_U32)]
    lib.pwc_esp_put.argtypes = [p, _U64, _U64, _U64]
    lib.pwc_esp_get.argtypes = [p, _U64, _U64, ctypes.POINTER(_U64)]
    return lib
