-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark/tshark dissector for PacketWay and what travels in it.
--
--   tshark -X lua_script:packetway.lua -r FILE -V
--   or copy it into the personal Lua plug-in folder (tshark -G folders)
--
-- Filter prefixes:
--   pw.*       monitor pseudo-header, addresses of any layer (pw.addr)
--   pweep.*    EEP: L2 routing headers, symbols, header, options, TAIL
--   pwrrp.*    RRP messages and records (also inside error reports)
--   pwesp.*    ephemeral state processing ("esp" itself is IPsec's)
--   pwpoets.*  POETS packets
--   pwaton.*   ATON ring packets
--   pwbmx.*    cells of the BMX fabric
--   pwtrunk.*  packets of a trunk between two hosts
--
-- Where messages are found:
--   protocol 0x88B5 in Linux cooked captures (SLL, SLL2: what libpcap gives
--     for pwN) and in Ethernet frames: one EEP message, or a packet of a trunk
--   UDP, any port: packets of a trunk that are recognised by their first bytes
--   protocol 0x88B6 in the same places, and link type USER0 (147): one record
--     of the monitor device, see below
--   link type USER1 (148): one bare EEP message, for text2pcap -l 148
--
-- Monitor record, 20 bytes, big-endian, in front of the bytes that were seen:
--
--   byte  bits
--    0     8   version, 1
--    1     8   kind: 1 EEP message, 2 ATON ring packet, 3 BMX cell
--    2     8   direction: 0 not given, 1 into the unit, 2 out of the unit,
--              3 dropped by the unit
--    3     8   ring packets: bits of an operand, 0 for 64; else 0
--    4    32   SAN number
--    8    32   unit: type (8) and number (24); types: 0 station (port),
--              1 ATON interface, 2 PPD, 3 SPD, 4 AAL unit, 5 half-router
--   12    64   virtual time of the SAN when it was seen: ns for kind 1, bit times
--              of the ring for kind 2, cycles (byte times) of the fabric for kind 3

-- installed for all, and named on the command line: once is enough
if rawget(_G, "packetway_dissector") then
	return
end
packetway_dissector = true

set_plugin_info({
	version = "1.0",
	author = "packetway",
	description = "PacketWay (EEP, RRP, ESP, POETS), ATON ring packets, BMX cells",
})

local ETHERTYPE_PACKETWAY = 0x88b5
local ETHERTYPE_PACKETWAY_MON = 0x88b6

-- ---------------------------------------------------------------- arithmetic

local B = bit32 or bit
local band, bor, bxor = B.band, B.bor, B.bxor
local lshift, rshift = B.lshift, B.rshift
local floor, fmt = math.floor, string.format

local function u32(x)		-- the bit library of some versions is signed
	return x % 4294967296
end

local crc32c_table, crc64_hi, crc64_lo, crc16_table = {}, {}, {}, {}

for i = 0, 255 do
	local c = i

	for _ = 1, 8 do
		c = u32(bxor(rshift(c, 1), band(c, 1) == 1 and 0x82f63b78 or 0))
	end
	crc32c_table[i] = c

	c = i * 256
	for _ = 1, 8 do
		c = band(bxor(c * 2, c >= 0x8000 and 0x1021 or 0), 0xffff)
	end
	crc16_table[i] = c

	local hi, lo = u32(lshift(i, 24)), 0

	for _ = 1, 8 do
		local top = hi >= 0x80000000

		hi = u32(bor(lshift(hi, 1), rshift(lo, 31)))
		lo = u32(lshift(lo, 1))
		if top then
			hi = u32(bxor(hi, 0x42f0e1eb))
			lo = u32(bxor(lo, 0xa9ea3693))
		end
	end
	crc64_hi[i], crc64_lo[i] = hi, lo
end

-- CRC-32C: reflected, preset and final inversion of all ones
local function crc32c(s)
	local c = 0xffffffff

	for i = 1, #s do
		c = bxor(rshift(c, 8), crc32c_table[band(bxor(c, s:byte(i)), 0xff)])
	end
	return u32(bxor(c, 0xffffffff))
end

-- CRC-64/WE: generator of ECMA-182, most significant bit first, preset and final
-- inversion of all ones; returns two halves
local function crc64(s)
	local hi, lo = 0xffffffff, 0xffffffff

	for i = 1, #s do
		local t = bxor(rshift(hi, 24), s:byte(i))

		t = band(t, 0xff)
		hi = u32(bxor(bor(lshift(hi, 8), rshift(lo, 24)), crc64_hi[t]))
		lo = u32(bxor(lshift(lo, 8), crc64_lo[t]))
	end
	return u32(bxor(hi, 0xffffffff)), u32(bxor(lo, 0xffffffff))
end

-- CRC-16, generator x^16+x^12+x^5+1, preset 0, most significant bit first
local function crc16(s)
	local c = 0

	for i = 1, #s do
		c = band(bxor(lshift(c, 8), crc16_table[bxor(rshift(c, 8), s:byte(i))]), 0xffff)
	end
	return c
end

-- ------------------------------------------------------------------- names

local PT_NAMES = {
	[1] = "RRP", [2] = "embedded PacketWay packet", [3] = "memory read",
	[4] = "memory write", [5] = "IP", [6] = "SNMP", [7] = "ATM",
	[8] = "Ethernet", [9] = "VME", [1024] = "ATON active packet",
	[1025] = "ESP", [1026] = "POETS", [1027] = "echo",
	[1028] = "reduction over rings", [65535] = "ERR",
}
local PT_RRP, PT_EMBEDDED, PT_IP, PT_SNMP, PT_ETHERNET = 1, 2, 5, 6, 8
local PT_ATON, PT_ESP, PT_POETS, PT_ECHO, PT_ERR = 1024, 1025, 1026, 1027, 65535
local PT_REDUCE = 1028

local RRP_NAMES = {
	[1] = "GVL2", [2] = "L2SR", [3] = "RDRC", [4] = "TELL", [5] = "INFO",
	[6] = "HRTO", [7] = "WRU", [8] = "GVRT", [9] = "RTBL",
}
local RRP_MEANING = {
	[1] = "give me L2 routes", [2] = "L2 source routes", [3] = "redirect",
	[4] = "who fits this description?", [5] = "description of nodes",
	[6] = "which half-router?", [7] = "who are you?",
	[8] = "give me your routing table", [9] = "routing table",
}
local ERR_NAMES = {
	[1] = "UNK", [2] = "HRDOWN", [3] = "LINKDOWN", [4] = "GENERAL",
	[5] = "TOOBIG", [6] = "BADOPT", [7] = "BADL2RH",
}
local ERR_MEANING = {
	[1] = "unknown destination or record", [2] = "half-router down",
	[3] = "link down", [4] = "general", [5] = "packet over the MTU",
	[6] = "unknown mandatory optional header",
	[7] = "L2 routing header not usable",
}
local ECHO_NAMES = { [1] = "request", [2] = "reply" }
local REDUCE_NAMES = { [1] = "request", [2] = "answer" }
local ESIZE_NAMES = {
	[0] = "bytes, never swapped", [1] = "16-bit", [2] = "32-bit",
	[3] = "64-bit", [4] = "128-bit", [5] = "illegal", [6] = "illegal",
	[7] = "illegal",
}
local OPT_NAMES = {
	[1] = "CRC32", [2] = "CRC64", [3] = "timestamp", [4] = "hop trace",
}
local SYM_NAMES = { [1] = "no-op", [2] = "trace", [3] = "priority override" }

local RT_NAMES = {
	[0x11] = "ADDR", [0x12] = "NAME", [0x13] = "CAPA", [0x14] = "LADR",
	[0x15] = "SRQR", [0x16] = "MTUR", [0x17] = "RCVF", [0x18] = "RTHD",
}
local AT_NAMES = {
	[1] = "single", [2] = "range minimum", [3] = "range maximum",
	[4] = "value", [5] = "mask",
}
local CAPA_NAMES = {
	[1] = "general computing node", [2] = "router", [3] = "PacketWay server",
	[4] = "multicast server", [5] = "NFS", [6] = "paging server",
	[7] = "floating-point DSP", [8] = "fixed-point DSP", [9] = "printer",
	[64] = "ATON interface", [65] = "ESP node", [66] = "POETS softswitch",
	[67] = "tables that are given", [255] = "SAN",
}

local function addr_text(a)
	return fmt("%02x:%02x:%02x", floor(a / 65536), floor(a / 256) % 256, a % 256)
end

local function addr_kind(a)
	if a == 0 then
		return "undefined"
	elseif a == 0x7ffffe then
		return "hey-you"
	elseif a == 0x7fffff then
		return "broadcast"
	elseif a < 0x800000 then
		return "physical"
	elseif a >= 0xe00000 and a <= 0xefffff then
		return "logical"
	end
	return "reserved"
end

local function plural(n, what)
	return fmt("%d %s%s", n, what, n == 1 and "" or "s")
end

-- --------------------------------------------------- protocols and fields

local p_mon = Proto("pw", "PacketWay monitor")
local p_eep = Proto("pweep", "PacketWay EEP")
local p_rrp = Proto("pwrrp", "PacketWay RRP")
local p_esp = Proto("pwesp", "Ephemeral state processing")
local p_poets = Proto("pwpoets", "POETS")
local p_aton = Proto("pwaton", "ATON ring packet")
local p_bmx = Proto("pwbmx", "BMX cell")
local p_trunk = Proto("pwtrunk", "PacketWay trunk")

p_eep.prefs.crc = Pref.bool("Check CRC options", true,
	"Compute CRC32 and CRC64 of the data block and compare")

local OPT_MASK = { T = 0x80, C = 0x40, TYPE = 0x3f }

local function fields(proto, list)
	proto.fields = list
	return list
end

local mon = fields(p_mon, {
	version = ProtoField.uint8("pw.version", "Version"),
	kind = ProtoField.uint8("pw.kind", "Kind", base.DEC,
		{ [1] = "EEP message", [2] = "ATON ring packet", [3] = "BMX cell" }),
	dir = ProtoField.uint8("pw.direction", "Direction", base.DEC,
		{ [0] = "not given", [1] = "in", [2] = "out", [3] = "dropped" }),
	width = ProtoField.uint8("pw.width", "Operand width"),
	reserved = ProtoField.uint8("pw.reserved", "Reserved", base.HEX),
	san = ProtoField.uint32("pw.san", "SAN"),
	unit_type = ProtoField.uint8("pw.unit.type", "Unit type", base.DEC,
		{ [0] = "station", [1] = "ATON interface", [2] = "PPD",
		  [3] = "SPD", [4] = "AAL unit", [5] = "half-router" }),
	unit = ProtoField.uint24("pw.unit", "Unit"),
	vtime = ProtoField.uint64("pw.vtime", "Virtual time"),
	addr = ProtoField.uint24("pw.addr", "Address", base.HEX),
})

local eep = fields(p_eep, {
	prefix_v = ProtoField.uint8("pweep.prefix.version", "Version", base.DEC, nil, 0xc0),
	prefix_rz = ProtoField.uint8("pweep.prefix.reserved", "Reserved", base.HEX, nil, 0x3f),
	l2rh = ProtoField.bytes("pweep.l2rh", "L2 routing header"),
	l2rh_len = ProtoField.uint8("pweep.l2rh.len", "Routing bytes", base.DEC, nil, 0x3f),
	l2rh_route = ProtoField.bytes("pweep.l2rh.route", "Route", base.SPACE),
	sym = ProtoField.bytes("pweep.symbol", "Symbol"),
	sym_type = ProtoField.uint24("pweep.symbol.type", "Type", base.DEC, SYM_NAMES, 0x0fffff),
	sym_len = ProtoField.uint8("pweep.symbol.len", "Data bytes"),
	sym_data = ProtoField.bytes("pweep.symbol.data", "Data", base.SPACE),
	sym_prio = ProtoField.uint8("pweep.symbol.priority", "Priority"),
	padding = ProtoField.bytes("pweep.padding", "Padding", base.SPACE),
	version = ProtoField.uint8("pweep.version", "Version", base.DEC, nil, 0xc0),
	priority = ProtoField.uint8("pweep.priority", "Priority", base.DEC, nil, 0x3f),
	dst = ProtoField.uint24("pweep.dst", "Destination", base.HEX),
	src = ProtoField.uint24("pweep.src", "Source", base.HEX),
	te = ProtoField.uint16("pweep.te", "Type extension"),
	pt = ProtoField.uint16("pweep.pt", "Packet type"),
	little = ProtoField.uint8("pweep.e.little", "Data byte order", base.DEC,
		{ [0] = "big-endian", [1] = "little-endian" }, 0x80),
	esize = ProtoField.uint8("pweep.e.size", "Element size", base.DEC, ESIZE_NAMES, 0x70),
	pl = ProtoField.uint8("pweep.pl", "Padding length", base.DEC, nil, 0x0e),
	dl = ProtoField.uint32("pweep.dl", "Data length in words", base.DEC, nil, 0x01ffffff),
	len = ProtoField.uint32("pweep.len", "Data bytes"),
	h = ProtoField.uint8("pweep.h", "Optional headers follow", base.DEC,
		{ [0] = "no", [1] = "yes" }, 0x80),
	rz = ProtoField.uint8("pweep.rz", "Reserved, zero when sent", base.HEX, nil, 0x7f),
	oh = ProtoField.bytes("pweep.oh", "Optional header"),
	ot = ProtoField.bytes("pweep.ot", "Optional trailer"),
	opt_t = ProtoField.uint8("pweep.opt.mandatory", "Mandatory", base.DEC,
		{ [0] = "no", [1] = "yes" }, OPT_MASK.T),
	opt_c = ProtoField.uint8("pweep.opt.last", "Last", base.DEC,
		{ [0] = "no", [1] = "yes" }, OPT_MASK.C),
	opt_type = ProtoField.uint8("pweep.opt.type", "Type", base.DEC, OPT_NAMES, OPT_MASK.TYPE),
	opt_len = ProtoField.uint8("pweep.opt.len", "Data bytes"),
	opt_data = ProtoField.bytes("pweep.opt.data", "Data", base.SPACE),
	time = ProtoField.uint64("pweep.timestamp", "Timestamp, ns"),
	hop = ProtoField.uint24("pweep.hop", "Hop", base.HEX),
	crc32 = ProtoField.uint32("pweep.crc32", "CRC32 of the data block", base.HEX),
	crc64 = ProtoField.uint64("pweep.crc64", "CRC64 of the data block", base.HEX),
	crc_ok = ProtoField.bool("pweep.crc.ok", "CRC is right"),
	data = ProtoField.bytes("pweep.data", "Data block"),
	ei = ProtoField.uint64("pweep.ei", "TAIL, error indication", base.HEX),
	trailing = ProtoField.bytes("pweep.trailing", "After the TAIL"),
	err = ProtoField.uint16("pweep.err", "Error", base.DEC, ERR_NAMES),
	quote = ProtoField.bytes("pweep.err.message", "Message in question"),
})

local rrp = fields(p_rrp, {
	msg = ProtoField.uint16("pwrrp.message", "Message", base.DEC, RRP_NAMES),
	rec = ProtoField.bytes("pwrrp.record", "Record"),
	rtyp = ProtoField.uint8("pwrrp.rtyp", "Record type", base.HEX, RT_NAMES),
	pl = ProtoField.uint8("pwrrp.pl", "Padding length"),
	rl = ProtoField.uint16("pwrrp.rl", "Record length in words, header word excluded"),
	at = ProtoField.uint8("pwrrp.at", "Address type", base.DEC, AT_NAMES),
	addr = ProtoField.uint24("pwrrp.addr", "Address", base.HEX),
	name = ProtoField.string("pwrrp.name", "Name"),
	capa = ProtoField.uint8("pwrrp.capability", "Capability", base.DEC, CAPA_NAMES),
	params = ProtoField.bytes("pwrrp.parameters", "Parameters", base.SPACE),
	q = ProtoField.uint16("pwrrp.q", "Quality (0 best, 65535 worst)"),
	mtu = ProtoField.uint32("pwrrp.mtu", "MTU in words"),
	serial = ProtoField.uint32("pwrrp.serial", "Serial number"),
	part = ProtoField.uint16("pwrrp.part", "Part of the table, from 0"),
	last_part = ProtoField.uint16("pwrrp.part.last", "Last part of the table"),
	list = ProtoField.uint8("pwrrp.tables.list", "List follows", base.DEC,
		{ [0] = "no", [1] = "yes" }, 0x01),
	sum = ProtoField.uint32("pwrrp.tables.sum", "Sum of the tables", base.HEX),
	hash = ProtoField.uint32("pwrrp.tables.hash", "Hash of the half-routers", base.HEX),
	pad = ProtoField.bytes("pwrrp.padding", "Padding", base.SPACE),
})

-- one set of notes for every protocol here
local note = {
	length = ProtoExpert.new("pweep.note.length", "Bad length",
		expert.group.MALFORMED, expert.severity.ERROR),
	cut = ProtoExpert.new("pweep.note.cut", "Cut short",
		expert.group.UNDECODED, expert.severity.NOTE),
	reserved = ProtoExpert.new("pweep.note.reserved", "Reserved value",
		expert.group.PROTOCOL, expert.severity.WARN),
	unknown = ProtoExpert.new("pweep.note.unknown", "Unknown code",
		expert.group.UNDECODED, expert.severity.NOTE),
	illegal = ProtoExpert.new("pweep.note.illegal", "Illegal value",
		expert.group.PROTOCOL, expert.severity.ERROR),
	crc = ProtoExpert.new("pweep.note.crc", "Wrong CRC",
		expert.group.CHECKSUM, expert.severity.ERROR),
	error = ProtoExpert.new("pweep.note.error", "Error indicated",
		expert.group.RESPONSE_CODE, expert.severity.WARN),
}

p_eep.experts = {
	note.length, note.cut, note.reserved, note.unknown, note.illegal,
	note.crc, note.error,
}

local function complain(item, which, ...)
	item:add_proto_expert_info(which, fmt(...))
end

-- pw.addr matches source, destination and every address in a record
local function add_addr(tree, field, range)
	local a = range:uint()
	local item = tree:add(field, range)

	item:append_text(fmt(" (%s, %s)", addr_text(a), addr_kind(a)))
	tree:add(mon.addr, range):set_hidden()
	return a, item
end

-- A window on the bytes: tvb, first byte not ours, and whether bytes are missing
-- for a good reason (snapped capture, message quoted only in part).
local function have(w, item, off, n, what)
	if off + n <= w.stop then
		return true
	end

	local left = math.max(w.stop - off, 0)

	if w.cut then
		complain(item, note.cut, "%s cut short: %d of %d bytes are here", what, left, n)
	else
		complain(item, note.length, "%s needs %s, %d left", what, plural(n, "byte"), left)
	end
	return false
end

-- ------------------------------------------------------------------ prefixes

local function dissect_prefix_byte0(w, tree, off)
	local b = w.tvb(off, 1)

	local item = tree:add(eep.prefix_v, b)

	if b:uint() >= 0x40 then
		complain(item, note.reserved, "Version %d is experimental", rshift(b:uint(), 6))
	end
	if band(b:uint(), 0x3f) ~= 0 then
		complain(tree:add(eep.prefix_rz, b), note.reserved, "Reserved bits are not zero")
	end
end

-- returns the offset behind it, or nil, and the routing bytes as text
local function dissect_l2rh(w, tree, off)
	if not have(w, tree, off, 2, "L2 routing header") then
		return nil
	end

	local n = band(w.tvb(off + 1, 1):uint(), 0x3f)
	local size = floor((n + 9) / 8) * 8

	if not have(w, tree, off, size, fmt("L2 routing header with %s", plural(n, "routing byte"))) then
		return nil
	end

	local t = tree:add(eep.l2rh, w.tvb(off, size))
	local route = ""

	t:set_text(fmt("L2 routing header, %s", plural(n, "routing byte")))
	dissect_prefix_byte0(w, t, off)

	local item = t:add(eep.l2rh_len, w.tvb(off + 1, 1))

	if n == 0 then
		complain(item, note.illegal, "An L2 routing header has 1 to 63 routing bytes")
	else
		t:add(eep.l2rh_route, w.tvb(off + 2, n))
		route = w.tvb(off + 2, n):bytes():tohex(true)
		t:append_text(": " .. route)
	end
	if size > n + 2 then
		t:add(eep.padding, w.tvb(off + 2 + n, size - n - 2))
	end
	return off + size, route
end

local function dissect_symbol(w, tree, off)
	if not have(w, tree, off, 5, "Symbol") then
		return nil
	end

	local typ = band(w.tvb(off + 1, 3):uint(), 0xfffff)
	local n = w.tvb(off + 4, 1):uint()
	local size = floor((n + 12) / 8) * 8

	if not have(w, tree, off, size, fmt("Symbol with %s", plural(n, "data byte"))) then
		return nil
	end

	local t = tree:add(eep.sym, w.tvb(off, size))

	t:set_text(fmt("Symbol %d (%s)", typ, SYM_NAMES[typ] or "unknown"))
	dissect_prefix_byte0(w, t, off)

	local item = t:add(eep.sym_type, w.tvb(off + 1, 3))

	if not SYM_NAMES[typ] then
		complain(item, note.unknown, "Symbol type %d is not assigned", typ)
	end
	t:add(eep.sym_len, w.tvb(off + 4, 1))
	if typ == 3 then
		if n == 1 then
			item = t:add(eep.sym_prio, w.tvb(off + 5, 1))
			if w.tvb(off + 5, 1):uint() > 63 then
				complain(item, note.illegal, "Priority is above 63")
			end
		else
			complain(t, note.length, "Priority override has one data byte, not %d", n)
		end
	elseif n > 0 then
		t:add(eep.sym_data, w.tvb(off + 5, n))
	end
	if size > n + 5 then
		t:add(eep.padding, w.tvb(off + 5 + n, size - n - 5))
	end
	return off + size
end

-- --------------------------------------------------- optional headers, trailers

local ANNOUNCES = { [1] = true, [2] = true }	-- OH types that announce an OT

local function dissect_hops(w, t, off, n)
	local hops = {}

	if n % 4 ~= 0 then
		complain(t, note.length, "Slots have 4 bytes, %d is no multiple of that", n)
	end
	while n >= 4 do
		if w.tvb(off, 4):uint() ~= 0 then
			hops[#hops + 1] = addr_text(add_addr(t, eep.hop, w.tvb(off + 1, 3)))
		end
		off = off + 4
		n = n - 4
	end
	t:append_text(#hops > 0 and ": " .. table.concat(hops, " ") or ": no router yet")
end

local function dissect_crc(w, t, off, n, typ, data)
	local size = typ == 1 and 4 or 8
	local got, want

	if n ~= size then
		complain(t, note.length, "%s has %d bytes, not %d", OPT_NAMES[typ], size, n)
		return
	end

	local item = t:add(typ == 1 and eep.crc32 or eep.crc64, w.tvb(off, n))

	if not p_eep.prefs.crc then
		return
	end
	-- both cover the data block with its padding
	got = w.tvb(off, n):bytes():tohex(true)
	if typ == 1 then
		want = fmt("%08x", crc32c(w.tvb:raw(data.start, data.size)))
	else
		want = fmt("%08x%08x", crc64(w.tvb:raw(data.start, data.size)))
	end
	t:add(eep.crc_ok, w.tvb(off, n), got == want):set_generated()
	if got == want then
		item:append_text(" (right)")
	else
		data.wrong = true
		complain(item, note.crc, "%s is 0x%s, it should be 0x%s", OPT_NAMES[typ], got, want)
	end
end

-- One OH or OT. Returns the offset behind it or nil, its type, whether it is last.
local function dissect_option(w, tree, off, field, data)
	local what = data and "Optional trailer" or "Optional header"

	if not have(w, tree, off, 2, what) then
		return nil
	end

	local b = w.tvb(off, 1):uint()
	local typ, n = band(b, OPT_MASK.TYPE), w.tvb(off + 1, 1):uint()
	local size = floor((n + 9) / 8) * 8

	if not have(w, tree, off, size, fmt("%s with %s", what, plural(n, "data byte"))) then
		return nil
	end

	local t = tree:add(field, w.tvb(off, size))
	local mandatory = band(b, OPT_MASK.T) ~= 0

	t:set_text(fmt("%s, %s", what, OPT_NAMES[typ] or fmt("type %d", typ)))
	t:add(eep.opt_t, w.tvb(off, 1))
	t:add(eep.opt_c, w.tvb(off, 1))

	local item = t:add(eep.opt_type, w.tvb(off, 1))

	t:add(eep.opt_len, w.tvb(off + 1, 1))
	if not OPT_NAMES[typ] then
		if mandatory then
			complain(item, note.reserved,
				"Type %d is not assigned and mandatory: do not process the message", typ)
		else
			complain(item, note.unknown, "Type %d is not assigned", typ)
		end
	end
	if data and (typ == 1 or typ == 2) then
		dissect_crc(w, t, off + 2, n, typ, data)
	elseif not data and typ == 3 and n == 8 then
		t:add(eep.time, w.tvb(off + 2, 8))
	elseif not data and typ == 4 then
		dissect_hops(w, t, off + 2, n)
	elseif n > 0 then
		t:add(eep.opt_data, w.tvb(off + 2, n))
	end
	if not data and typ == 3 and n ~= 8 then
		complain(t, note.length, "A timestamp has 8 bytes, not %d", n)
	end
	if size > n + 2 then
		t:add(eep.padding, w.tvb(off + 2 + n, size - n - 2))
	end
	return off + size, typ, band(b, OPT_MASK.C) ~= 0
end

local function dissect_headers(w, tree, off, announced)
	local typ, last

	repeat
		off, typ, last = dissect_option(w, tree, off, eep.oh, nil)
		if off and ANNOUNCES[typ] then
			announced[#announced + 1] = typ
		end
	until not off or last
	return off
end

-- Is what follows the data block a row of OTs, when none was announced? If there
-- is more than a TAIL and its first word is not 0. In a frame that Ethernet may
-- have filled up only a last OT (C set) is taken for one.
local function has_trailers(w, off)
	if w.stop - off <= 8 then
		return false
	end
	if w.padded then
		return band(w.tvb(off, 1):uint(), OPT_MASK.C) ~= 0
	end
	return w.tvb(off, 8):bytes():tohex():find("[^0]") ~= nil
end

-- Announced OTs in the order of their OHs, then self-defined ones, up to the one
-- with C set.
local function dissect_trailers(w, tree, off, announced, data)
	local found, typ, last = 0, nil, nil

	if #announced == 0 and not has_trailers(w, off) then
		return off
	end
	repeat
		if not w.cut and w.stop - off <= 8 then
			complain(tree, note.length, "%s and the TAIL are to come, %s left",
				found < #announced and "An optional trailer that was announced"
				or "Another optional trailer", plural(w.stop - off, "byte"))
			return off
		end
		off, typ, last = dissect_option(w, tree, off, eep.ot, data)
		if not off then
			return nil
		end
		if typ == announced[found + 1] then
			found = found + 1
		end
	until last
	if found < #announced then
		complain(tree, note.illegal, "%s announced: the one for %s is not there or not in order",
			plural(#announced, "optional trailer"), OPT_NAMES[announced[found + 1]])
	end
	return off
end
-- ----------------------------------------------------------------------- RRP

local dissect_records

local function dissect_address_entries(w, tree, off, n)
	local first = 0		-- type of an entry that needs another one

	while n >= 4 do
		local at = w.tvb(off, 1):uint()
		local item = tree:add(rrp.at, w.tvb(off, 1))

		if not AT_NAMES[at] then
			complain(item, note.unknown, "Address type %d is not assigned", at)
		elseif (first ~= 0 or at == 3 or at == 5) and at ~= first + 1 then
			complain(item, note.illegal, "Half of an address pair is missing")
		end
		first = (at == 2 or at == 4) and at or 0
		add_addr(tree, rrp.addr, w.tvb(off + 1, 3))
		off = off + 4
		n = n - 4
	end
	if first ~= 0 then
		complain(tree, note.illegal, "Half of an address pair is missing")
	end
end

local function record_pad(w, t, off, n)
	if n <= 0 then
		return
	end

	local range = w.tvb(off, n)
	local item = t:add(rrp.pad, range)

	if range:bytes():tohex():find("[^0]") then
		complain(item, note.reserved, "Padding is not zero")
	end
end

local record = {}

-- each: window, record's tree, offset, PL, RL, number of data bytes -> text
record[0x11] = function(w, t, off, pl, rl)
	local at = w.tvb(off + 4, 1):uint()
	local item = t:add(rrp.at, w.tvb(off + 4, 1))
	local a = add_addr(t, rrp.addr, w.tvb(off + 5, 3))
	local text = addr_text(a)
	local nested = off + 8
	local want = 0

	if at == 2 or at == 4 then
		want = 4
		if rl < 1 then
			complain(t, note.length, "An address pair needs RL of at least 1")
			return text
		end

		local at2 = w.tvb(off + 8, 1):uint()

		item = t:add(rrp.at, w.tvb(off + 8, 1))
		if at2 ~= at + 1 then
			complain(item, note.illegal, "Address type %d goes with %d, not with %d",
				at, at + 1, at2)
		end
		a = add_addr(t, rrp.addr, w.tvb(off + 9, 3))
		text = text .. (at == 2 and " to " or " mask ") .. addr_text(a)
		record_pad(w, t, off + 12, 4)
		nested = off + 16
	elseif at == 3 or at == 5 then
		complain(item, note.illegal, "Address type %d comes second in a pair", at)
	elseif at ~= 1 then
		complain(item, note.unknown, "Address type %d is not assigned", at)
	end
	if pl ~= want then
		complain(t, note.length, "PL is %d, this ADDR needs %d", pl, want)
	end

	local stop = off + 8 + 8 * rl

	if nested < stop then
		local inner = dissect_records(
			{ tvb = w.tvb, stop = stop, cut = false, inside = true }, t, nested)

		if inner ~= "" then
			text = text .. " {" .. inner .. "}"
		end
	end
	return text
end

record[0x12] = function(w, t, off, pl, rl, n)
	local name = w.tvb(off + 4, n):string(ENC_UTF_8)

	t:add(rrp.name, w.tvb(off + 4, n), name)
	record_pad(w, t, off + 4 + n, pl)
	return '"' .. name .. '"'
end

local CAPA_TABLES = 67

-- among half-routers: the sum of the tables that one gives, and the list of them
local function dissect_tables(w, t, off, n)
	if n < 5 then
		complain(t, note.length, "Flags and sum need 5 bytes, %d are here", n)
		return
	end
	t:add(rrp.list, w.tvb(off, 1))
	t:add(rrp.sum, w.tvb(off + 1, 4))
	for at = off + 5, off + n - 12, 12 do
		local e = t:add(rrp.rec, w.tvb(at, 12))
		local a = add_addr(e, rrp.addr, w.tvb(at + 1, 3))

		e:set_text(fmt("Table of SAN %s, serial %.0f", addr_text(a), w.tvb(at + 4, 4):uint()))
		e:add(rrp.serial, w.tvb(at + 4, 4))
		e:add(rrp.hash, w.tvb(at + 8, 4))
	end
	if (n - 5) % 12 ~= 0 then
		complain(t, note.length, "Entries of a list have 12 bytes")
	end
end

record[0x13] = function(w, t, off, pl, rl, n)
	if n < 1 then
		complain(t, note.length, "CAPA has no capability code")
		return "?"
	end

	local code = w.tvb(off + 4, 1):uint()
	local item = t:add(rrp.capa, w.tvb(off + 4, 1))

	if not CAPA_NAMES[code] then
		complain(item, note.unknown, "Capability %d is not assigned", code)
	end
	if code == CAPA_TABLES then
		dissect_tables(w, t, off + 5, n - 1)
	elseif n > 1 then
		t:add(rrp.params, w.tvb(off + 5, n - 1))
	end
	record_pad(w, t, off + 4 + n, pl)
	return CAPA_NAMES[code] or tostring(code)
end

record[0x14] = function(w, t, off, pl, rl, n)
	if n % 4 ~= 0 then
		complain(t, note.length, "Entries have 4 bytes, %d is no multiple of that", n)
	end
	dissect_address_entries(w, t, off + 4, n)
	record_pad(w, t, off + 4 + n, pl)
	return plural(floor(n / 4), "entry"):gsub("entrys", "entries")
end

record[0x15] = function(w, t, off, pl, rl)
	if pl ~= 2 then
		complain(t, note.length, "PL is %d, SRQR needs 2", pl)
	end
	record_pad(w, t, off + 4, 2)

	local q = w.tvb(off + 6, 2):uint()
	local text = fmt("Q %d", q)

	t:add(rrp.q, w.tvb(off + 6, 2))

	local inner = { tvb = w.tvb, stop = off + 8 + 8 * rl, cut = false }
	local at = off + 8

	while at < inner.stop do
		local b = w.tvb(at + 1, 1):uint()
		local route

		if b < 0x80 or b >= 0xc0 then
			complain(t, note.illegal, "A source route holds L2 routing headers only")
			break
		end
		at, route = dissect_l2rh(inner, t, at)
		if not at then
			break
		end
		text = text .. " route " .. route
	end
	return text
end

record[0x16] = function(w, t, off, pl, rl)
	local mtu = w.tvb(off + 4, 4):uint()
	local item = t:add(rrp.mtu, w.tvb(off + 4, 4))
	local text = mtu == 0 and "unlimited" or fmt("%.0f bytes", mtu * 8)

	item:append_text(" (" .. text .. ")")
	if pl ~= 0 or rl ~= 0 then
		complain(t, note.length, "PL is %d and RL is %d, MTUR needs 0 and 0", pl, rl)
	end
	return text
end

record[0x17] = record[0x14]

record[0x18] = function(w, t, off, pl, rl)
	if pl ~= 0 or rl ~= 1 then
		complain(t, note.length, "PL is %d and RL is %d, RTHD needs 0 and 1", pl, rl)
	end

	local item = t:add(rrp.at, w.tvb(off + 4, 1))

	if w.tvb(off + 4, 1):uint() ~= 1 then
		complain(item, note.illegal, "The SAN address of RTHD is a single one")
	end

	local a = add_addr(t, rrp.addr, w.tvb(off + 5, 3))

	if rl < 1 then
		return addr_text(a)
	end
	t:add(rrp.serial, w.tvb(off + 8, 4))

	local part, last = w.tvb(off + 12, 2):uint(), w.tvb(off + 14, 2):uint()
	local text = fmt("%s serial %.0f", addr_text(a), w.tvb(off + 8, 4):uint())

	item = t:add(rrp.part, w.tvb(off + 12, 2))
	t:add(rrp.last_part, w.tvb(off + 14, 2))
	if part > last then
		complain(item, note.illegal, "Part %d is behind the last one, %d", part, last)
	elseif last > 0 then
		text = text .. fmt(" part %d of %d", part + 1, last + 1)
	end
	return text
end

-- a sequence of records up to w.stop; returns one line of text about them
dissect_records = function(w, tree, off)
	local texts = {}

	while off < w.stop do
		if not have(w, tree, off, 8, "Record header") then
			break
		end

		local rtyp = w.tvb(off, 1):uint()
		local pl = w.tvb(off + 1, 1):uint()
		local rl = w.tvb(off + 2, 2):uint()
		local size = 8 + 8 * rl
		local n = 4 + 8 * rl - pl
		local name = RT_NAMES[rtyp] or fmt("Record 0x%02x", rtyp)

		if not have(w, tree, off, size, fmt("%s record with RL %d", name, rl)) then
			break
		end

		local t = tree:add(rrp.rec, w.tvb(off, size))

		t:set_text(name)

		local item = t:add(rrp.rtyp, w.tvb(off, 1))

		if not record[rtyp] then
			complain(item, note.unknown, "Record type 0x%02x is not assigned", rtyp)
		end
		item = t:add(rrp.pl, w.tvb(off + 1, 1))
		t:add(rrp.rl, w.tvb(off + 2, 2))
		if n < 0 then
			complain(item, note.length, "PL %d is more than the record holds", pl)
		elseif w.inside and (rtyp == 0x11 or rtyp == 0x17 or rtyp == 0x18) then
			complain(t, note.illegal, "%s does not nest in an ADDR", name)
		elseif record[rtyp] then
			if pl > 7 then
				complain(item, note.length, "PL is %d, padding is at most 7 bytes", pl)
			end

			local text = record[rtyp](w, t, off, pl, rl, n)

			t:append_text(" " .. text)
			texts[#texts + 1] = name .. " " .. text
		else
			t:add(rrp.params, w.tvb(off + 4, size - 4))
			texts[#texts + 1] = name
		end
		off = off + size
	end
	return table.concat(texts, ", ")
end

-- --------------------------------------------------------------- EEP message

local call = {}		-- packet type -> function(w, pinfo, root, info)
local ether = { type = Field.new("eth.type") }
local ip4, ip6, arp = Dissector.get("ip"), Dissector.get("ipv6"), Dissector.get("arp")
local snapped = false	-- the capture has cut what a pseudo-header stands before
local dissect_message

local function type_text(pt, te)
	local name = PT_NAMES[pt]

	if pt == PT_RRP and RRP_NAMES[te] then
		return "RRP " .. RRP_NAMES[te]
	elseif pt == PT_ERR and ERR_NAMES[te] then
		return "ERR " .. ERR_NAMES[te]
	elseif pt == PT_ECHO and ECHO_NAMES[te] then
		return "echo " .. ECHO_NAMES[te]
	elseif name then
		return name
	elseif pt >= 1024 and pt <= 2047 then
		return fmt("user type %d", pt)
	end
	return fmt("type %d", pt)
end

local function dissect_header(w, t, off)
	local tvb = w.tvb
	local h = {}
	local ht = t:add(p_eep, tvb(off, 16))
	local v = rshift(tvb(off, 1):uint(), 6)
	local item = ht:add(eep.version, tvb(off, 1))

	ht:set_text("Header")
	if v ~= 0 then
		complain(item, note.reserved, "Version %d is experimental", v)
	end
	h.p = band(tvb(off, 1):uint(), 0x3f)
	ht:add(eep.priority, tvb(off, 1))

	h.dt, item = add_addr(ht, eep.dst, tvb(off + 1, 3))
	if h.dt == 0 then
		complain(item, note.illegal, "Address 0 is no destination")
	end

	h.te = tvb(off + 4, 2):uint()
	h.pt = tvb(off + 6, 2):uint()

	local te_item = ht:add(eep.te, tvb(off + 4, 2))
	local te_names = { [PT_RRP] = RRP_MEANING, [PT_ERR] = ERR_MEANING, [PT_ECHO] = ECHO_NAMES,
		[PT_REDUCE] = REDUCE_NAMES }

	if te_names[h.pt] then
		local text = te_names[h.pt][h.te]

		if text then
			local short = (h.pt == PT_RRP and RRP_NAMES or
				       h.pt == PT_ERR and ERR_NAMES or {})[h.te]

			te_item:append_text(" (" .. (short and short .. ", " or "") .. text .. ")")
		else
			complain(te_item, note.unknown, "Type extension %d is not assigned for %s",
				h.te, PT_NAMES[h.pt])
		end
	elseif h.pt == PT_IP then
		te_item:append_text(h.te == 0 and " (version tells)" or
				    h.te == 0x0806 and " (ARP)" or "")
	end

	item = ht:add(eep.pt, tvb(off + 6, 2))
	if PT_NAMES[h.pt] then
		item:append_text(" (" .. PT_NAMES[h.pt] .. ")")
	elseif h.pt >= 1024 and h.pt <= 2047 then
		item:append_text(" (user defined)")
	else
		complain(item, note.unknown, "Packet type %d is not assigned", h.pt)
	end

	local b8 = tvb(off + 8, 1):uint()

	h.e = rshift(b8, 4)
	h.pl = band(rshift(b8, 1), 7)
	h.dl = band(tvb(off + 8, 4):uint(), 0x01ffffff)
	ht:add(eep.little, tvb(off + 8, 1))
	item = ht:add(eep.esize, tvb(off + 8, 1))
	if band(h.e, 7) > 4 then
		complain(item, note.illegal, "Element size code %d is illegal", band(h.e, 7))
	end
	item = ht:add(eep.pl, tvb(off + 8, 1))
	ht:add(eep.dl, tvb(off + 8, 4))
	if h.dl == 0 and h.pl > 0 then
		complain(item, note.length, "Padding of %d in a data block of no words", h.pl)
		h.bad = true
	else
		h.len = 8 * h.dl - h.pl
		ht:add(eep.len, tvb(off + 8, 4), h.len):set_generated()
	end

	local b12 = tvb(off + 12, 1)

	h.h = b12:uint() >= 0x80
	ht:add(eep.h, b12)
	item = ht:add(eep.rz, b12)
	if band(b12:uint(), 0x7f) ~= 0 then
		complain(item, note.reserved, "Reserved bits are not zero")
	end
	h.sa, item = add_addr(ht, eep.src, tvb(off + 13, 3))
	if h.sa >= 0x800000 then
		complain(item, note.illegal, "The first bit of a source address is 0")
	elseif h.sa >= 0x7ffffe then
		complain(item, note.illegal, "%s is no source", addr_kind(h.sa))
	end
	return h
end

-- which router reported: EI moves left by one bit at each router
local function dissect_tail(w, t, off)
	local ei = w.tvb(off, 8):uint64()
	local item = t:add(eep.ei, w.tvb(off, 8))

	if ei:higher() == 0 and ei:lower() == 0 then
		item:append_text(" (no error)")
		return
	end

	local bits = {}

	for i = 0, 63 do
		local half = i < 32 and ei:lower() or ei:higher()

		if floor(u32(half) / 2 ^ (i % 32)) % 2 == 1 then
			bits[#bits + 1] = tostring(i)
		end
	end
	complain(item, note.error,
		"Data damaged on the way, EI bit %s set (bit n: n routers before the last one, or the source)",
		table.concat(bits, ", "))
end

-- what a dissector of another protocol makes of bytes that end too soon is an
-- error in here: say so and go on
local function call_other(w, dissector, pinfo, root)
	local fine, why = pcall(dissector.call, dissector,
		w.tvb(w.start, w.stop - w.start):tvb(), pinfo, root)

	if not fine then
		complain(w.item, w.cut and note.cut or note.length, "The data block ends too soon (%s)",
			tostring(why):gsub("^.*: ", ""))
	end
end

-- Returns text for the Info column (nil: already filled), the offset behind the TAIL
-- (nil: not reached) and the tree.
dissect_message = function(w, pinfo, tree, root, depth)
	local t = tree:add(p_eep, w.tvb(w.start, w.stop - w.start))
	local off = w.start
	local prefixes = 0

	while true do
		if not have(w, t, off, 2, "First word") then
			return w.cut and "Cut short" or "Malformed", nil
		end

		local b1 = w.tvb(off + 1, 1):uint()
		local nxt

		if b1 < 0x80 or (b1 >= 0xe0 and b1 < 0xf0) then
			break
		elseif b1 < 0xc0 then
			nxt = dissect_l2rh(w, t, off)
		elseif b1 >= 0xf0 then
			nxt = dissect_symbol(w, t, off)
		else
			complain(t, note.reserved, "The first word is of a reserved kind (110)")
		end
		if not nxt then
			return w.cut and "Cut short" or "Malformed", nil
		end
		prefixes = prefixes + 1
		off = nxt
	end

	if not have(w, t, off, 16, "Header") then
		return w.cut and "Cut short" or "Malformed", nil
	end

	local h = dissect_header(w, t, off)
	local text = type_text(h.pt, h.te)
	local line, note_text = text, ""

	t:append_text(fmt(", Src: %s, Dst: %s, %s", addr_text(h.sa), addr_text(h.dt), text))
	if prefixes > 0 then
		note_text = fmt(" (%s before the header)", (plural(prefixes, "prefix"):gsub("xs$", "xes")))
	end
	if depth == 0 then
		pinfo.cols.src = addr_text(h.sa)
		pinfo.cols.dst = addr_text(h.dt)
	else
		line = fmt("%s > %s %s", addr_text(h.sa), addr_text(h.dt), text)
	end
	off = off + 16
	if h.bad then
		return line .. note_text .. " [bad length]", nil
	end

	local announced = {}

	if h.h then
		off = dissect_headers(w, t, off, announced)
		if not off then
			return line .. note_text .. (w.cut and " [cut short]" or " [bad options]"), nil
		end
	end

	local db = off
	local size = 8 * h.dl
	local whole = have(w, t, off, size, fmt("Data block of %.0f words", h.dl))
	local here = math.min(h.len, math.max(w.stop - db, 0))

	local item

	if here > 0 then
		item = t:add(eep.data, w.tvb(db, here))
		item:set_text(fmt("Data block, %s: %s%s", plural(here, "byte"),
			w.tvb(db, math.min(here, 24)):bytes():tohex(true),
			here > 24 and "..." or ""))
	end
	if whole then
		if h.pl > 0 then
			t:add(eep.padding, w.tvb(db + h.len, h.pl))
		end
		local block = { start = db, size = size }

		off = dissect_trailers(w, t, db + size, announced, block)
		if block.wrong then
			note_text = note_text .. " [wrong CRC]"
		end
		if off and have(w, t, off, 8, "TAIL") then
			dissect_tail(w, t, off)
			off = off + 8
		else
			off = nil
		end
	else
		off = nil
	end
	if off then
		t:set_len(off - w.start)
	end

	-- what the data block holds, even when something behind it is wrong
	if here > 0 or (whole and h.len == 0) then
		local inner = {
			tvb = w.tvb, start = db, stop = db + here,
			cut = w.cut and here < h.len, h = h, depth = depth,
			item = item,
		}

		if call[h.pt] then
			local more, own = call[h.pt](inner, pinfo, depth == 0 and root or t)

			if more == true then	-- others fill the columns
				line = nil
			elseif own and depth == 0 then
				line = own .. note_text
				note_text = ""
			end
			if line and more and more ~= "" then
				line = line .. note_text .. ": " .. more
				note_text = ""
			end
		else
			local other = DissectorTable.get("pweep.pt"):get_dissector(h.pt)

			if here > 0 and other then
				call_other(inner, other, pinfo, depth == 0 and root or t)
				line = nil
			end
		end
	end
	if line then
		line = line .. note_text
		if not off then
			line = line .. (w.cut and " [cut short]" or " [bad length]")
		end
	end
	return line, off, t
end

call[PT_RRP] = function(w, pinfo, root)
	local t = root:add(p_rrp, w.tvb(w.start, w.stop - w.start))
	local name = RRP_NAMES[w.h.te] or fmt("message %d", w.h.te)

	t:append_text(", " .. name)
	t:add(rrp.msg, w.tvb(w.start, 0), w.h.te):set_generated()

	local e_ok, h_ok = w.h.e == 0, not w.h.h

	if not e_ok or not h_ok then
		complain(t, note.illegal, "An RRP message has E and h of 0")
	end
	if w.depth == 0 then
		pinfo.cols.protocol = "RRP"
	end
	return dissect_records(w, t, w.start), name
end

-- a message inside a message: at most four deep, the rest stays bytes
local function dissect_inner(w, pinfo, root, cut)
	if w.depth >= 3 then
		return nil
	end
	return (dissect_message(
		{ tvb = w.tvb, start = w.start, stop = w.stop, cut = cut or w.cut },
		pinfo, root, root, w.depth + 1))
end

call[PT_EMBEDDED] = function(w, pinfo, root)
	if w.stop == w.start then
		return nil
	end
	return dissect_inner(w, pinfo, root, false)
end

call[PT_IP] = function(w, pinfo, root)
	if w.stop == w.start then
		return nil
	end

	local nibble = rshift(w.tvb(w.start, 1):uint(), 4)
	local d

	if w.h.te == 0x0806 then
		d = arp
	elseif nibble == 4 then
		d = ip4
	elseif nibble == 6 then
		d = ip6
	else
		complain(w.item, note.illegal,
			"IP version %d is neither 4 nor 6", nibble)
		return nil
	end
	pinfo.cols.info = ""
	call_other(w, d, pinfo, root)
	return true
end

call[PT_ECHO] = function(w, pinfo, root)
	if w.stop > w.start then
		return plural(w.stop - w.start, "byte")
	end
	return nil
end

call[PT_ERR] = function(w, pinfo, root)
	local t = root:add(p_eep, w.tvb(w.start, w.stop - w.start))
	local te = w.h.te
	local item = t:add(eep.err, w.tvb(w.start, 0), te)

	item:set_generated()
	t:set_text("PacketWay error report, " .. (ERR_NAMES[te] or tostring(te)))
	if w.depth == 0 then
		complain(item, note.error, "Error report: %s", ERR_MEANING[te] or fmt("code %d", te))
	end
	if w.stop == w.start then
		return nil
	end
	if te == 4 or te == 6 or te == 7 then
		local qt = t:add(eep.quote, w.tvb(w.start, w.stop - w.start))

		qt:set_text("Message in question")
		return dissect_inner(w, pinfo, qt, true)
	end
	return dissect_records(w, t, w.start)
end

-- ----------------------------------------------------------------------- ESP
--
-- control(8) opcode(8) length(16, 32-bit words of operands), then the operands:
-- operator (32 bits, 0 where there is none), then 64 bits each; all big-endian.

local ESP_REL = { [1] = "<", [2] = "<=", [3] = "==", [4] = "!=", [5] = ">=", [6] = ">" }
local ESP_OP = { [1] = "ADD", [2] = "AND", [3] = "OR", [4] = "MAX", [5] = "MIN", [6] = "XOR" }
local ESP_OPCODES = {
	[1] = "COUNT", [2] = "COMPARE", [3] = "COLLECT", [4] = "RCHLD", [5] = "RCOLLECT",
}
local ESP_OPERANDS = {
	[1] = { "tag", "thresh" },
	[2] = { "tag", "val", ops = ESP_REL },
	[3] = { "valTag", "cntTag", "val", ops = ESP_OP },
	[4] = { "sibTag", "fwdTag", "fwdThresh", "pktId" },
	[5] = { "sibTag", "fwdTag", "fwdThresh", "compTag", "val", "pktId", ops = ESP_OP },
}

local esp_list = {
	ctl = ProtoField.uint8("pwesp.control", "Control", base.HEX),
	loc = ProtoField.uint8("pwesp.location", "Location", base.DEC,
		{ [0] = "any node", [1] = "routers only", [2] = "end systems only" }, 0xf0),
	reflect = ProtoField.uint8("pwesp.reflect", "Reflect", base.DEC, nil, 0x08),
	error = ProtoField.uint8("pwesp.error", "Error", base.DEC, nil, 0x04),
	xor = ProtoField.uint8("pwesp.execute_on_reflect", "Execute on reflect", base.DEC, nil, 0x02),
	exec = ProtoField.uint8("pwesp.execute", "Execute", base.DEC, nil, 0x01),
	opcode = ProtoField.uint8("pwesp.opcode", "Opcode", base.DEC, ESP_OPCODES),
	len = ProtoField.uint16("pwesp.length", "Operand length in 32-bit words"),
	op = ProtoField.uint32("pwesp.op", "Operator"),
	operands = ProtoField.bytes("pwesp.operands", "Operands", base.SPACE),
	data = ProtoField.bytes("pwesp.data", "Application data", base.SPACE),
}

for _, name in ipairs({ "tag", "valTag", "cntTag", "sibTag", "fwdTag", "compTag", "pktId" }) do
	esp_list[name] = ProtoField.uint64("pwesp." .. name:lower(), name, base.HEX)
end
for _, name in ipairs({ "thresh", "fwdThresh", "val" }) do
	esp_list[name] = ProtoField.uint64("pwesp." .. name:lower(), name, base.DEC)
end

local esp = fields(p_esp, esp_list)

call[PT_ESP] = function(w, pinfo, root)
	local tvb, at = w.tvb, w.start
	local t = root:add(p_esp, tvb(at, w.stop - at))

	if w.depth == 0 then
		pinfo.cols.protocol = "PW-ESP"
	end
	if not have(w, t, at, 4, "ESP header") then
		return "[bad length]"
	end

	local ctl, opcode, words = tvb(at, 1):uint(), tvb(at + 1, 1):uint(), tvb(at + 2, 2):uint()
	local ct = t:add(esp.ctl, tvb(at, 1))
	local item = ct:add(esp.loc, tvb(at, 1))
	local flags = {}

	if ctl >= 0x30 then
		complain(item, note.reserved, "Location %d is not assigned", floor(ctl / 16))
	end
	ct:add(esp.reflect, tvb(at, 1))
	item = ct:add(esp.error, tvb(at, 1))
	if band(ctl, 4) ~= 0 then
		complain(item, note.error, "The instruction was aborted on the way")
	end
	ct:add(esp.xor, tvb(at, 1))
	ct:add(esp.exec, tvb(at, 1))
	for i, name in ipairs({ "execute", "execute on reflect", "error", "reflect" }) do
		if floor(ctl / 2 ^ (i - 1)) % 2 == 1 then
			flags[#flags + 1] = name
		end
	end
	ct:append_text(" (" .. (#flags > 0 and table.concat(flags, ", ") or "pass through") .. ")")

	local operands = ESP_OPERANDS[opcode]
	local name = ESP_OPCODES[opcode] or fmt("opcode %d", opcode)
	local text = ""

	item = t:add(esp.opcode, tvb(at + 1, 1))
	if not operands then
		complain(item, note.unknown, "Opcode %d is not assigned", opcode)
	end
	item = t:add(esp.len, tvb(at + 2, 2))
	if operands and words ~= 1 + 2 * #operands then
		complain(item, note.length, "%s has %d words of operands, not %d", name,
			1 + 2 * #operands, words)
		operands = nil
	end
	if #flags > 0 then
		name = name .. " [" .. table.concat(flags, ", ") .. "]"
	end
	at = at + 4
	if not have(w, t, at, 4 * words, fmt("Operand list of %s", plural(words, "word"))) then
		t:append_text(", " .. name)
		return "[bad length]", name
	end
	if not operands then
		if words > 0 then
			t:add(esp.operands, tvb(at, 4 * words))
		end
	else
		local op = tvb(at, 4):uint()

		item = t:add(esp.op, tvb(at, 4))
		if operands.ops and operands.ops[op] then
			item:append_text(" (" .. operands.ops[op] .. ")")
			text = text .. " op " .. operands.ops[op]
		elseif operands.ops then
			complain(item, note.unknown, "Operator %.0f is not assigned", op)
		elseif op ~= 0 then
			complain(item, note.reserved, "This instruction has no operator")
		end
		for i, name in ipairs(operands) do
			local range = tvb(at + 8 * i - 4, 8)

			t:add(esp[name], range)
			if name:find("[tT]hresh") or name == "val" then
				text = text .. fmt(" %s %s", name, tostring(range:uint64()))
			else
				text = text .. fmt(" %s %s", name, range:bytes():tohex(true))
			end
		end
	end
	t:append_text(", " .. name)
	at = at + 4 * words
	if at < w.stop then
		t:add(esp.data, tvb(at, w.stop - at))
	end
	return text:sub(2), name
end
-- --------------------------------------------------------------------- POETS

local POETS_OPCODES = {
	[0] = "no-op", [0xfa] = "IMPL, implicit supervisor handler",
	[0xfb] = "INSTR, instrumentation", [0xfc] = "LOG", [0xfd] = "BARRIER",
	[0xfe] = "STOP", [0xff] = "KILL",
}
local POETS_INSTR = {
	"index", "cycles", "received", "receive_handlers", "sent", "to_supervisor",
	"send_handlers", "idle", "idle_handlers", "blocked",
	"cache_misses", "cache_hits", "write_backs", "cpu_idle",
}

local poets_list = {
	swaddr = ProtoField.uint32("pwpoets.swaddr", "Software address", base.HEX),
	ms = ProtoField.uint32("pwpoets.mothership", "Mothership", base.DEC, nil, 0x80000000),
	cnc = ProtoField.uint32("pwpoets.cnc", "CNC", base.DEC, nil, 0x40000000),
	task = ProtoField.uint32("pwpoets.task", "Task", base.DEC, nil, 0x3f000000),
	opcode = ProtoField.uint32("pwpoets.opcode", "Opcode", base.HEX, nil, 0x00ff0000),
	device = ProtoField.uint32("pwpoets.device", "Device", base.DEC, nil, 0x0000ffff),
	kind = ProtoField.string("pwpoets.kind", "Goes to"),
	pinaddr = ProtoField.uint32("pwpoets.pinaddr", "Pin address", base.HEX),
	edge = ProtoField.uint32("pwpoets.edge", "Edge", base.DEC, nil, 0xffffff00),
	pin = ProtoField.uint32("pwpoets.pin", "Pin", base.DEC, nil, 0x000000ff),
	flits = ProtoField.uint8("pwpoets.flits", "Flits"),
	payload = ProtoField.bytes("pwpoets.payload", "Payload", base.SPACE),
	log_seq = ProtoField.uint8("pwpoets.log.sequence", "Fragments to follow"),
	log_text = ProtoField.string("pwpoets.log.text", "Text"),
}

for i, name in ipairs(POETS_INSTR) do
	poets_list[i] = ProtoField.uint32("pwpoets.instr." .. name, (name:gsub("_", " ")))
end

local poets = fields(p_poets, poets_list)

-- the receiver's order of looking at things: broadcast, commands, then devices
local function poets_kind(ms, cnc, device, opcode)
	if ms == 1 and cnc == 0 then
		return "external"
	elseif ms == 1 then
		return opcode >= 0xfb and "mothership" or "supervisor"
	elseif cnc == 1 then
		return device == 0xffff and "every device, control" or "device, control"
	end
	return device == 0xffff and "every device" or "device"
end

call[PT_POETS] = function(w, pinfo, root)
	local n = w.stop - w.start
	local t = root:add(p_poets, w.tvb(w.start, n))

	if w.depth == 0 then
		pinfo.cols.protocol = "POETS"
	end
	if w.h.e ~= 0xa then
		complain(t, note.illegal, "POETS words are little-endian 32-bit ones (E 10), E is %d", w.h.e)
	end
	if not have(w, t, w.start, 8, "POETS header") then
		return "[bad length]"
	end
	if n > 64 then
		complain(t, note.length, "A POETS packet has at most 64 bytes, this one has %d", n)
	end

	local sw = w.tvb(w.start, 4):le_uint()
	local ms, cnc = floor(sw / 0x80000000), floor(sw / 0x40000000) % 2
	local task, opcode = floor(sw / 0x1000000) % 64, floor(sw / 0x10000) % 256
	local device = sw % 65536
	local kind = poets_kind(ms, cnc, device, opcode)
	local opname = POETS_OPCODES[opcode] or
		(opcode >= 0xf0 and "reserved" or "application")
	local st = t:add_le(poets.swaddr, w.tvb(w.start, 4))

	st:add_le(poets.ms, w.tvb(w.start, 4))
	st:add_le(poets.cnc, w.tvb(w.start, 4))
	st:add_le(poets.task, w.tvb(w.start, 4))

	local item = st:add_le(poets.opcode, w.tvb(w.start, 4))

	item:append_text(" (" .. opname .. ")")
	if opcode >= 0xf0 and opcode <= 0xf9 then
		complain(item, note.reserved, "Opcode 0x%02x is reserved", opcode)
	elseif cnc == 0 and opcode ~= 0 and opcode ~= 0xfa then
		complain(item, note.illegal, "An opcode other than IMPL needs CNC")
	end
	item = st:add_le(poets.device, w.tvb(w.start, 4))
	if device == 0xffff then
		item:append_text(" (every device)")
	end
	if ms == 1 and cnc == 1 and device ~= 0 then
		complain(item, note.illegal, "The device is 0 in a packet to the supervisor or mothership")
	end
	t:add(poets.kind, w.tvb(w.start, 4), kind):set_generated()

	local text = fmt("task %d", task)

	if ms == 0 and device ~= 0xffff then
		text = text .. fmt(", device %d", device)
	end
	if cnc == 1 or opcode ~= 0 then
		text = text .. fmt(", opcode 0x%02x %s", opcode, opname)
	end

	local pt = t:add_le(poets.pinaddr, w.tvb(w.start + 4, 4))

	if ms == 0 and cnc == 0 and opcode == 0 then
		pt:add_le(poets.edge, w.tvb(w.start + 4, 4))
		pt:add_le(poets.pin, w.tvb(w.start + 4, 4))

		local pa = w.tvb(w.start + 4, 4):le_uint()

		text = text .. fmt(", pin %d, edge %d", pa % 256, floor(pa / 256))
	end
	if n <= 64 then
		t:add(poets.flits, w.tvb(w.start, n), floor((n - 1) / 16) + 1):set_generated()
	end

	local at, left = w.start + 8, n - 8

	if left > 0 and ms == 1 and cnc == 1 and opcode == 0xfc then
		local lt = t:add(poets.payload, w.tvb(at, left))

		lt:set_text("Log")
		lt:add(poets.log_seq, w.tvb(at, 1))
		if left > 1 then
			lt:add(poets.log_text, w.tvb(at + 1, left - 1),
				(w.tvb(at + 1, left - 1):string(ENC_UTF_8):gsub("%z.*", "")))
		end
	elseif left > 0 and ms == 1 and cnc == 1 and opcode == 0xfb then
		local it = t:add(poets.payload, w.tvb(at, left))

		it:set_text("Instrumentation")
		if left ~= 40 and left ~= 56 and not w.cut then
			complain(it, note.length, "A report has 40 or 56 bytes, this one has %d", left)
		end
		for i = 1, math.min(floor(left / 4), #POETS_INSTR) do
			it:add_le(poets[i], w.tvb(at + 4 * (i - 1), 4))
		end
	elseif left > 0 then
		t:add(poets.payload, w.tvb(at, left))
	end
	return text, "To " .. kind
end

-- ---------------------------------------------------------------------- ATON
--
-- A ring packet as captured (data block of PT 1024, or behind the pseudo-header):
-- its bits in the order in which they were on the ring, eight to a byte, the first
-- one most significant, without the delimiters. So the control field and addresses
-- read as numbers, and fields sent least significant bit first are mirrored.
--
--   control(16) destination(24) source(24) Counter(24, LSB first), then
--     basic commands:  Variable-1(64, LSB first for ADD, AND, OR) Variable-2(64, LSB first)
--     SORT:            Counter operands (64 each)
--     BITSUM:          64 counts (24 each, LSB first)
--     TREE:            heights(8), for each operation(8) and value(64, LSB first for
--                      ADD, AND, OR), then Variable-1(64, LSB first)
--     passive packet:  Counter bytes, an EEP message
--   trailer control(8) CRC(32)
-- A ring may have operands of another width, see aton_narrow().

local aton_width	-- bits of an operand in the packet that is dissected

local ATON_OPCODES = {
	[1] = "ADD", [2] = "AND", [3] = "OR", [4] = "MAX", [5] = "MIN",
	[6] = "COUNT_EQ", [7] = "COUNT_LT", [8] = "COUNT_LE",
	[16] = "SORT", [17] = "BITSUM", [18] = "TREE",
}

local ATON_NAMES = { [0] = "none" }

for code, name in pairs(ATON_OPCODES) do
	ATON_NAMES[code] = name
end

local aton = fields(p_aton, {
	control = ProtoField.uint16("pwaton.control", "Control", base.HEX),
	active = ProtoField.uint16("pwaton.active", "Active", base.DEC, nil, 0x8000),
	opcode = ProtoField.uint16("pwaton.opcode", "Opcode", base.DEC, ATON_NAMES, 0x7c00),
	reg = ProtoField.uint16("pwaton.register", "Operand register", base.DEC, nil, 0x03c0),
	signed = ProtoField.uint16("pwaton.signed", "Signed", base.DEC, nil, 0x0020),
	comparand = ProtoField.uint16("pwaton.comparand", "Comparand given", base.DEC, nil, 0x0010),
	prefix = ProtoField.uint16("pwaton.prefix", "Prefix", base.DEC, nil, 0x0008),
	zero = ProtoField.uint16("pwaton.reserved", "Reserved", base.HEX, nil, 0x0006),
	parity = ProtoField.uint16("pwaton.parity", "Parity", base.DEC, nil, 0x0001),
	dst = ProtoField.uint24("pwaton.dst", "Execution region", base.HEX),
	src = ProtoField.uint24("pwaton.src", "T-interface", base.HEX),
	counter = ProtoField.uint24("pwaton.counter", "Counter"),
	v1 = ProtoField.uint64("pwaton.v1", "Variable-1"),
	v2 = ProtoField.uint64("pwaton.v2", "Variable-2"),
	operand = ProtoField.uint64("pwaton.operand", "Operand"),
	part = ProtoField.uint24("pwaton.part", "Ones"),
	heights = ProtoField.uint8("pwaton.heights", "Heights"),
	tree_op = ProtoField.uint8("pwaton.tree.opcode", "Operation", base.DEC, ATON_OPCODES),
	level = ProtoField.uint64("pwaton.tree.value", "Value"),
	data = ProtoField.bytes("pwaton.data", "Passive packet", base.SPACE),
	trailer = ProtoField.uint8("pwaton.trailer", "Trailer control", base.HEX),
	overflow = ProtoField.uint8("pwaton.overflow", "Overflow", base.DEC, nil, 0x40),
	recognised = ProtoField.uint8("pwaton.recognised", "Address recognised", base.DEC, nil, 0x20),
	trailer_rz = ProtoField.uint8("pwaton.trailer.reserved", "Reserved", base.HEX, nil, 0x9f),
	crc = ProtoField.uint32("pwaton.crc", "CRC", base.HEX),
	crc_ok = ProtoField.bool("pwaton.crc.ok", "CRC is right"),
})

local mirrored, crc32_table = {}, {}

for i = 0, 255 do
	local m, c = 0, u32(lshift(i, 24))

	for b = 0, 7 do
		m = m + floor(i / 2 ^ b) % 2 * 2 ^ (7 - b)
		c = u32(bxor(lshift(c, 1), c >= 0x80000000 and 0x04c11db7 or 0))
	end
	mirrored[i], crc32_table[i] = m, c
end

-- CRC-32 as the interfaces compute it: bits in the order sent, preset all ones, no
-- final inversion
local function aton_crc(s)
	local c = 0xffffffff

	for i = 1, #s do
		c = u32(bxor(lshift(c, 8), crc32_table[bxor(rshift(c, 24), s:byte(i))]))
	end
	return c
end

-- value of a field of 3 or 8 bytes that was sent least significant bit first
local function lsb24(range)
	local s = range:raw()

	return mirrored[s:byte(1)] + 256 * mirrored[s:byte(2)] + 65536 * mirrored[s:byte(3)]
end

local function lsb64(range)
	local s, half = range:raw(), { 0, 0 }

	for i = 0, 7 do
		local h = i < 4 and 1 or 2

		half[h] = half[h] + mirrored[s:byte(i + 1)] * 256 ^ (i % 4)
	end
	return UInt64.new(half[1], half[2])
end

local function aton_lsb_first(op)
	return op >= 1 and op <= 3
end

local function aton_value(t, field, range, lsb, signed)
	local v = lsb and lsb64(range) or range:uint64()
	local item = t:add(field, range, v)

	if signed and v:higher() >= 0x80000000 then
		item:append_text(fmt(" (signed %s)", tostring(range:int64())))
	end
	return v, item
end

local function aton_control(w, t, at)
	local range = w.tvb(at, 2)
	local v = range:uint()
	local ct = t:add(aton.control, range)
	local ones = 0

	for b = 0, 15 do
		ones = ones + floor(v / 2 ^ b) % 2
	end

	local c = {
		active = v >= 0x8000, op = floor(v / 0x400) % 32,
		signed = band(v, 0x20) ~= 0, comparand = band(v, 0x10) ~= 0,
	}

	ct:add(aton.active, range)

	local item = ct:add(aton.opcode, range)

	if not c.active then
		if c.op ~= 0 then
			complain(item, note.illegal, "A passive packet has no opcode")
		end
		c.op = 0
	elseif not ATON_OPCODES[c.op] then
		complain(item, note.unknown, "Opcode %d is not assigned", c.op)
		c.bad = true
	end
	ct:add(aton.reg, range)
	ct:add(aton.signed, range)
	ct:add(aton.comparand, range)
	if band(v, 0x08) ~= 0 then
		ct:add(aton.prefix, range)
	end
	item = ct:add(aton.zero, range)
	if band(v, 0x06) ~= 0 then
		complain(item, note.reserved, "Reserved bits are not zero")
	end
	item = ct:add(aton.parity, range)
	if ones % 2 == 0 then
		complain(item, note.crc, "Parity of the control field is even: no interface acts on it")
	end
	c.name = c.active and (ATON_OPCODES[c.op] or fmt("opcode %d", c.op)) or "Passive"
	return c
end

-- returns what to add to the summary
local function aton_crc_line(t, range, got, want)
	local item = t:add(aton.crc, range, got)

	t:add(aton.crc_ok, range, got == want):set_generated()
	if got == want then
		item:append_text(" (right)")
		return ""
	end
	complain(item, note.crc, "CRC is 0x%08x, it should be 0x%08x", got, want)
	return " [wrong CRC]"
end

local function aton_trailer(w, t, at)
	local range = w.tvb(at, 1)
	local v = range:uint()
	local tt = t:add(aton.trailer, range)
	local item = tt:add(aton.overflow, range)
	local text = ""

	if band(v, 0x40) ~= 0 then
		complain(item, note.error, "A carry went out of bit 63")
		text = ", overflow"
	end
	tt:add(aton.recognised, range)
	if band(v, 0x9f) ~= 0 then
		complain(tt:add(aton.trailer_rz, range), note.reserved, "Reserved bits are not zero")
	end

	local want = aton_crc(w.tvb:raw(w.start, at + 1 - w.start))

	return text .. aton_crc_line(t, w.tvb(at + 1, 4), w.tvb(at + 1, 4):uint(), want)
end

-- what stands between Counter and trailer; returns offset behind it, or nil, and text
local aton_body = {}

local function aton_basic(w, t, at, c)
	if not have(w, t, at, 16, "Variables") then
		return nil
	end

	local v1 = aton_value(t, aton.v1, w.tvb(at, 8), aton_lsb_first(c.op), c.signed)
	local v2 = aton_value(t, aton.v2, w.tvb(at + 8, 8), true, false)
	local text = fmt(", V1 %s", tostring(v1))

	if c.op >= 4 then
		text = text .. fmt(", V2 %s", tostring(v2))
	end
	return at + 16, text
end

for op = 1, 8 do
	aton_body[op] = aton_basic
end

aton_body[16] = function(w, t, at, c)		-- SORT
	local whole = have(w, t, at, 8 * c.counter, fmt("List of %s", plural(c.counter, "operand")))
	local last = nil

	for _ = 1, math.min(c.counter, floor((w.stop - at) / 8)) do
		local range = w.tvb(at, 8)
		local v, item = aton_value(t, aton.operand, range, false, c.signed)
		local cmp = c.signed and range:int64() or v

		if last and cmp < last then
			complain(item, note.illegal, "Operands are not in ascending order")
		end
		last = cmp
		at = at + 8
	end
	if not whole then
		return nil
	end
	return at, ", " .. plural(c.counter, "operand")
end

aton_body[17] = function(w, t, at)		-- BITSUM
	if not have(w, t, at, 192, "Counts of 64 bits") then
		return nil
	end
	for i = 0, 63 do
		local range = w.tvb(at + 3 * i, 3)

		t:add(aton.part, range, lsb24(range)):prepend_text(fmt("Bit %d: ", i))
	end
	return at + 192, ""
end

aton_body[18] = function(w, t, at, c)		-- TREE
	if not have(w, t, at, 1, "Heights") then
		return nil
	end

	local heights = w.tvb(at, 1):uint()
	local item = t:add(aton.heights, w.tvb(at, 1))

	-- with the top bit set each node has an operation, else each height
	local nodes = heights >= 0x80

	heights = heights % 0x80
	if nodes and heights > 7 then
		complain(item, note.illegal, "A tree with an operation for each node has at most 7 heights")
		return nil
	elseif heights > 20 then
		complain(item, note.illegal, "A tree has at most 20 heights")
	end
	at = at + 1

	local ops = nodes and 2 ^ heights - 1 or heights

	if not have(w, t, at, ops + 8 * heights + 8, fmt("Tree of %s", plural(heights, "height"))) then
		return nil
	end
	for h = 0, heights - 1 do
		local n = nodes and 2 ^ (heights - 1 - h) or 1
		-- the node for which the level was stored last decides on the order of its bits
		local stored = math.min(math.max(floor((floor(c.counter / 2 ^ h) - 1) / 2), 0), n - 1)
		local order = 1

		for k = 0, n - 1 do
			local op = w.tvb(at + k, 1):uint()

			item = t:add(aton.tree_op, w.tvb(at + k, 1))
			if op < 1 or op > 5 then
				complain(item, note.illegal, "Operation %d is none of ADD, AND, OR, MAX, MIN", op)
			end
			if k == stored then
				order = op
			end
		end
		aton_value(t, aton.level, w.tvb(at + n, 8), aton_lsb_first(order), false)
		at = at + n + 8
	end

	local v1 = aton_value(t, aton.v1, w.tvb(at, 8), true, false)

	return at + 8, fmt(", %s, V1 %s", plural(heights, "height"), tostring(v1))
end

aton_body[0] = function(w, t, at, c)		-- passive packet
	if not have(w, t, at, c.counter, "Passive packet") then
		return nil
	end
	if c.counter > 0 then
		t:add(aton.data, w.tvb(at, c.counter)):set_text(
			fmt("Passive packet, %s", plural(c.counter, "byte")))
	end
	return at + c.counter, ""
end

-- Operands of another width than 64 bits, which the header of the record tells. Fields then
-- begin within bytes; zeros fill the last byte. Variable-2 has at least 24 bits.
aton_width = 64

local function aton_bits(s, at, n, lsb)
	local lo, hi = 0, 0

	for i = 0, n - 1 do
		local byte, k = s:byte(floor((at + i) / 8) + 1), lsb and i or n - 1 - i

		if floor(byte / 2 ^ (7 - (at + i) % 8)) % 2 == 1 then
			if k < 32 then
				lo = lo + 2 ^ k
			else
				hi = hi + 2 ^ (k - 32)
			end
		end
	end
	return UInt64.new(lo, hi)
end

local function aton_bits_crc(s, n)
	local c = 0xffffffff

	for i = 0, n - 1 do
		local b = floor(s:byte(floor(i / 8) + 1) / 2 ^ (7 - i % 8)) % 2
		local top = c >= 0x80000000 and 1 or 0

		c = u32(bxor(lshift(c, 1), top ~= b and 0x04c11db7 or 0))
	end
	return c
end

-- adds a field of @n bits and returns its value
local function aton_narrow_value(w, t, s, field, at, n, lsb, signed)
	local v = aton_bits(s, at, n, lsb)
	local first = floor(at / 8)
	local item = t:add(field, w.tvb(w.start + first, floor((at + n - 1) / 8) - first + 1), v)

	if signed and aton_bits(s, at + (lsb and n - 1 or 0), 1, true):tonumber() == 1 then
		item:append_text(fmt(" (signed %d)", v:tonumber() - 2 ^ n))
	end
	return v
end

-- bits between Counter and trailer, nil if the packet does not tell, and bits of a count
local function aton_narrow_bits(s, c)
	local n, left = aton_width, 8 * #s - 88 - 40

	if c.op == 0 then
		return 8 * c.counter
	elseif c.op <= 8 then
		return n + math.max(n, 24)
	elseif c.op == 16 then
		return n * c.counter
	elseif c.op == 17 then
		-- a count has as many bits as fit; with few counts the CRC decides
		for part = math.min(floor(left / n), 24), 1, -1 do
			if left - n * part > 7 then
				break
			end
			if aton_bits_crc(s, 96 + n * part) == aton_bits(s, 96 + n * part, 32, false):tonumber() then
				return n * part, part
			end
		end
		return nil
	end

	local heights = s:byte(12)

	if not heights then
		return nil
	end

	local nodes = heights >= 0x80

	heights = heights % 0x80
	if heights > (nodes and 7 or 20) then
		return nil
	end
	return 8 + 8 * (nodes and 2 ^ heights - 1 or heights) + n * heights + n
end

local function aton_narrow_body(w, t, s, c, bits, part)
	local n, at = aton_width, 88

	if c.op == 0 then
		return ""
	elseif c.op <= 8 then
		local v1 = aton_narrow_value(w, t, s, aton.v1, at, n, aton_lsb_first(c.op), c.signed)
		local v2 = aton_narrow_value(w, t, s, aton.v2, at + n, math.max(n, 24), true, false)

		return fmt(", V1 %s", tostring(v1)) .. (c.op >= 4 and fmt(", V2 %s", tostring(v2)) or "")
	elseif c.op == 16 then
		for i = 0, c.counter - 1 do
			aton_narrow_value(w, t, s, aton.operand, at + n * i, n, false, c.signed)
		end
		return ", " .. plural(c.counter, "operand")
	elseif c.op == 17 then
		for i = 0, n - 1 do
			local v = aton_bits(s, at + part * i, part, true):tonumber()
			local first = floor((at + part * i) / 8)
			local last = floor((at + part * i + part - 1) / 8)

			t:add(aton.part, w.tvb(w.start + first, last - first + 1), v):prepend_text(fmt("Bit %d: ", i))
		end
		return ""
	end
	t:add(aton.heights, w.tvb(w.start + 11, 1))

	local v1 = aton_narrow_value(w, t, s, aton.v1, at + bits - n, n, true, false)

	return fmt(", %s, V1 %s", plural(s:byte(12) % 0x80, "height"), tostring(v1))
end

-- what stands behind the Counter; returns text
local function aton_narrow(w, t, c)
	local s = w.tvb:raw(w.start, w.stop - w.start)
	local bits, part = aton_narrow_bits(s, c)

	if not bits or #s < math.ceil((88 + bits + 40) / 8) then
		complain(t, note.length, "Operands of %d bits do not fit", aton_width)
		return w.cut and " [cut short]" or " [bad length]"
	end

	local text = aton_narrow_body(w, t, s, c, bits, part)
	local at = 88 + bits
	local range = w.tvb(w.start + floor(at / 8), floor((at + 39) / 8) - floor(at / 8) + 1)
	local trailer = aton_bits(s, at, 8, false):tonumber()
	local got, want = aton_bits(s, at + 8, 32, false):tonumber(), aton_bits_crc(s, at + 8)

	t:add(aton.trailer, range, trailer)
	if band(trailer, 0x40) ~= 0 then
		text = text .. ", overflow"
	end

	return text .. aton_crc_line(t, range, got, want)
end

local function aton_region(a)
	if a == 0xffffff then
		return "whole ring"
	elseif a >= 0xe00000 and a <= 0xefffff then
		return "group " .. addr_text(a)
	end
	return "interface " .. addr_text(a)
end

local function dissect_aton(w, pinfo, root)
	local t = root:add(p_aton, w.tvb(w.start, w.stop - w.start))
	local at = w.start

	if not have(w, t, at, 11, "Ring packet") then
		return "[bad length]", "Ring packet"
	end

	local c = aton_control(w, t, at)
	local region = aton_region(w.tvb(at + 2, 3):uint())
	local src = w.tvb(at + 5, 3):uint()
	local name = fmt("%s, %s", c.name, region)

	t:append_text(fmt(", %s, T-interface %s", name, addr_text(src)))
	t:add(aton.dst, w.tvb(at + 2, 3)):append_text(" (" .. region .. ")")
	t:add(mon.addr, w.tvb(at + 2, 3)):set_hidden()
	t:add(aton.src, w.tvb(at + 5, 3)):append_text(" (" .. addr_text(src) .. ")")
	t:add(mon.addr, w.tvb(at + 5, 3)):set_hidden()
	c.counter = lsb24(w.tvb(at + 8, 3))

	local item = t:add(aton.counter, w.tvb(at + 8, 3), c.counter)
	local text = fmt("from %s, Counter %d", addr_text(src), c.counter)

	if not c.active then
		item:append_text(" (bytes)")
		text = fmt("from %s, %s", addr_text(src), plural(c.counter, "byte"))
	end
	at = at + 11
	if c.bad then
		return text, name
	end

	local narrow = aton_width ~= 64 and c.op ~= 0

	if c.op == 17 and w.stop - at ~= 192 + 5 then
		narrow = narrow or aton_narrow_bits(w.tvb:raw(w.start, w.stop - w.start), c) ~= nil
	end
	if narrow then
		return text .. aton_narrow(w, t, c), name
	end

	local stop, more = aton_body[c.op](w, t, at, c)

	if not stop or not have(w, t, stop, 5, "Trailer and CRC") then
		return text .. (w.cut and " [cut short]" or " [bad length]"), name
	end
	text = text .. more .. aton_trailer(w, t, stop)
	if stop + 5 < w.stop then
		complain(t, note.length, "%s after the CRC", plural(w.stop - stop - 5, "byte"))
	end
	if not c.active and c.counter > 0 and w.depth < 3 then
		local line = dissect_message({ tvb = w.tvb, start = at, stop = stop },
			pinfo, root, root, w.depth + 1)

		if line then
			text = text .. ": " .. line
		end
	end
	return text, name
end

call[PT_ATON] = function(w, pinfo, root)
	if w.depth == 0 then
		pinfo.cols.protocol = "ATON"
	end
	return dissect_aton(w, pinfo, root)
end

function p_aton.dissector(tvb, pinfo, root)
	local cap = tvb:len()
	local w = { tvb = tvb, start = 0, stop = cap, depth = 0 }

	w.cut = cap < tvb:reported_len() or snapped
	pinfo.cols.protocol = "ATON"

	local text, name = dissect_aton(w, pinfo, root)

	pinfo.cols.info = name .. ": " .. text
	return cap
end

-- ------------------------------------------------------------------ BMX cell

local bmx = fields(p_bmx, {
	vpi = ProtoField.uint16("pwbmx.vpi", "VPI", base.DEC, nil, 0xfff0),
	low = ProtoField.uint16("pwbmx.passed", "Passed through", base.HEX, nil, 0x000f),
	rest = ProtoField.bytes("pwbmx.header", "Rest of the ATM header", base.SPACE),
	type = ProtoField.uint16("pwbmx.type", "SAR type", base.DEC,
		{ [0] = "data", [1] = "acknowledgement" }),
	flag = ProtoField.uint16("pwbmx.flag", "SAR flag", base.HEX),
	first = ProtoField.uint16("pwbmx.first", "First cell", base.DEC, nil, 0x0001),
	last = ProtoField.uint16("pwbmx.last", "Last cell", base.DEC, nil, 0x0002),
	comm = ProtoField.uint16("pwbmx.communication", "Communication", base.DEC,
		{ [0] = "broadcast", [1] = "point-to-point" }),
	seq = ProtoField.uint16("pwbmx.sequence", "Sequence number"),
	src = ProtoField.uint16("pwbmx.src", "Source port"),
	dst = ProtoField.uint16("pwbmx.dst", "Destination port"),
	cs = ProtoField.bytes("pwbmx.cs", "Message header"),
	process = ProtoField.string("pwbmx.process", "Process"),
	instance = ProtoField.int32("pwbmx.instance", "Instance"),
	id = ProtoField.uint32("pwbmx.message", "Message identifier"),
	data = ProtoField.bytes("pwbmx.data", "Data", base.SPACE),
	crc = ProtoField.uint16("pwbmx.crc", "CRC", base.HEX),
	crc_ok = ProtoField.bool("pwbmx.crc.ok", "CRC is right"),
})

local function dissect_cs(tvb, t)
	local ct = t:add(bmx.cs, tvb(15, 20))
	local name = ""
	local item

	ct:set_text("Message header")
	for i = 0, 2 do
		local c = tvb(15 + 4 * i, 4):uint()

		if c >= 32 and c < 127 then
			name = name .. string.char(c)
		elseif c ~= 0 then
			name = name .. "?"
		end
	end
	ct:add(bmx.process, tvb(15, 12), name)
	item = ct:add(bmx.instance, tvb(27, 4))
	if tvb(27, 4):int() == -1 then
		item:append_text(" (any)")
	end
	ct:add(bmx.id, tvb(31, 4))
	return name
end

local function dissect_cell(tvb, pinfo, root)
	local cap = tvb:len()
	local w = { tvb = tvb, start = 0, stop = cap, cut = cap < tvb:reported_len() or snapped }
	local t = root:add(p_bmx, tvb(0, cap))

	pinfo.cols.protocol = "BMX"
	if tvb:reported_len() > 53 then
		complain(t, note.length, "A cell has 53 bytes, this one has %d", tvb:reported_len())
	end
	if not have(w, t, 0, 53, "Cell") then
		return "[bad length]"
	end

	local kind, flag = tvb(5, 2):uint(), tvb(7, 2):uint()
	local seq, src, dst = tvb(9, 2):uint(), tvb(11, 2):uint(), tvb(13, 2):uint()
	local to = dst == 0xffff and "all" or tostring(dst)
	local text

	t:add(bmx.vpi, tvb(0, 2))
	t:add(bmx.low, tvb(0, 2))
	t:add(bmx.rest, tvb(2, 3))

	local item = t:add(bmx.type, tvb(5, 2))

	if kind > 1 then
		complain(item, note.unknown, "SAR type %d is neither data nor acknowledgement", kind)
	end

	local ft = t:add(bmx.flag, tvb(7, 2))

	if kind == 0 then
		local part = { [0] = "middle", "first", "last", "only" }

		ft:add(bmx.last, tvb(7, 2))
		ft:add(bmx.first, tvb(7, 2))
		if flag > 3 then
			complain(ft, note.reserved, "Only two bits of the flag are in use")
		end
		text = fmt("Data cell %d, %d > %s, %s", seq, src, to, part[flag % 4])
	elseif kind == 1 then
		ft:add(bmx.comm, tvb(7, 2))
		if flag > 1 then
			complain(ft, note.reserved, "Communication %d is not defined", flag)
		end
		text = fmt("Acknowledgement %d, %d > %s, %s", seq, src, to,
			flag == 0 and "broadcast" or "point-to-point")
	else
		text = fmt("Cell of type %d, %d > %s", kind, src, to)
	end
	t:append_text(fmt(", VPI %d, %s", floor(tvb(0, 2):uint() / 16), text))
	item = t:add(bmx.seq, tvb(9, 2))
	if seq == 0 then
		complain(item, note.illegal, "The first sequence number is 1")
	end
	t:add(bmx.src, tvb(11, 2))
	item = t:add(bmx.dst, tvb(13, 2))
	if dst == 0xffff then
		item:append_text(" (all)")
	end
	if kind == 0 and flag % 2 == 1 then
		text = text .. fmt(", process \"%s\"", dissect_cs(tvb, t))
		t:add(bmx.data, tvb(35, 16))
	else
		t:add(bmx.data, tvb(15, 36))
	end

	local want, got = crc16(tvb:raw(5, 46)), tvb(51, 2):uint()

	item = t:add(bmx.crc, tvb(51, 2))
	t:add(bmx.crc_ok, tvb(51, 2), want == got):set_generated()
	if want ~= got then
		complain(item, note.crc, "CRC is 0x%04x, it should be 0x%04x", got, want)
		text = text .. " [wrong CRC]"
	else
		item:append_text(" (right)")
	end
	return text
end

function p_bmx.dissector(tvb, pinfo, root)
	pinfo.cols.info = dissect_cell(tvb, pinfo, root)
	return tvb:len()
end

-- ------------------------------------------------------------ ways in

-- pinfo may be shared with an outer message; the columns belong to the outermost
local function dissect_outer(tvb, pinfo, root)
	local cap, rep = tvb:len(), tvb:reported_len()

	pinfo.cols.protocol = "EEP"
	pinfo.cols.info = ""

	-- Ethernet fills frames up to 46 bytes
	local padded = ether.type() and rep <= 46
	local w = { tvb = tvb, start = 0, stop = cap, cut = cap < rep or snapped, padded = padded }
	local line, used, t = dissect_message(w, pinfo, root, root, 0)

	if line then
		pinfo.cols.info = line
	end
	if used and used < cap then
		local item = t:add(eep.trailing, tvb(used, cap - used))

		if padded then
			item:set_text(fmt("Ethernet padding, %s", plural(cap - used, "byte")))
		else
			complain(item, note.length, "%s after the TAIL", plural(cap - used, "byte"))
		end
		t:set_len(cap)
	end
	return cap
end

local dissect_trunk_maybe

function p_eep.dissector(tvb, pinfo, root)
	return dissect_outer(tvb, pinfo, root)
end

-- what has the Ethernet type of PacketWay: a message, or a packet of a trunk
local p_ether = Proto("pwether", "PacketWay on Ethernet")

function p_ether.dissector(tvb, pinfo, root)
	if dissect_trunk_maybe(tvb, pinfo, root) then
		return tvb:len()
	end
	return dissect_outer(tvb, pinfo, root)
end

-- ------------------------------------------------------------------- trunks
--
-- Header of 32 bytes, payload, and with a key a tag of 16 bytes:
--
--   byte 0  'P'    1  version (1)    2  type: 1 frame, 2 hello
--   3  flags: 1 a half-router made it, 2 there is a tag
--   4  routers passed    5  priority    6, 7  which trunk of a device
--   8  session (64 bits)    16  sequence number (64 bits)
--   24 frame: virtual ns in fabrics so far; hello: sum of tables (32 bits), zero
--
-- With a key the payload is encrypted and the header authenticated by
-- XChaCha20-Poly1305, nonce: session, sequence number, 0.

p_trunk.prefs.keys = Pref.string("Keys", "",
	"Keys of trunks, 64 hexadecimal digits each, separated by commas")

local trunk = fields(p_trunk, {
	version = ProtoField.uint8("pwtrunk.version", "Version"),
	type = ProtoField.uint8("pwtrunk.type", "Type", base.DEC, { [1] = "frame", [2] = "hello" }),
	half = ProtoField.bool("pwtrunk.half", "Made by a half-router", 8, nil, 0x01),
	keyed = ProtoField.bool("pwtrunk.keyed", "Encrypted", 8, nil, 0x02),
	hops = ProtoField.uint8("pwtrunk.hops", "Routers passed"),
	priority = ProtoField.uint8("pwtrunk.priority", "Priority"),
	id = ProtoField.uint16("pwtrunk.id", "Trunk of the device"),
	session = ProtoField.uint64("pwtrunk.session", "Session", base.HEX),
	seq = ProtoField.uint64("pwtrunk.seq", "Sequence number"),
	vtime = ProtoField.uint64("pwtrunk.vtime", "Virtual time in fabrics, ns"),
	sum = ProtoField.uint32("pwtrunk.sum", "Sum of the tables", base.HEX),
	challenge = ProtoField.uint64("pwtrunk.challenge", "Challenge", base.HEX),
	echo = ProtoField.uint64("pwtrunk.echo", "Challenge of the other end", base.HEX),
	addr = ProtoField.uint24("pwtrunk.addr", "Half-router", base.HEX),
	mtu = ProtoField.uint32("pwtrunk.mtu", "MTU"),
	data = ProtoField.bytes("pwtrunk.data", "Encrypted payload"),
	tag = ProtoField.bytes("pwtrunk.tag", "Tag"),
	tag_ok = ProtoField.bool("pwtrunk.tag.ok", "A key fits"),
})

local note_key = ProtoExpert.new("pwtrunk.note.key", "No key fits", expert.group.DECRYPTION,
	expert.severity.NOTE)

p_trunk.experts = { note_key }

local function word_le(str, at)
	local a, b, c, d = str:byte(at, at + 3)

	return a + b * 256 + c * 65536 + d * 16777216
end

local function bytes_le(x)
	return string.char(x % 256, floor(x / 256) % 256, floor(x / 65536) % 256, floor(x / 16777216))
end

local function rotate(x, n)
	return u32(bor(lshift(x, n), rshift(x, 32 - n)))
end

local function quarter(s, a, b, c, d)
	s[a] = (s[a] + s[b]) % 4294967296
	s[d] = rotate(u32(bxor(s[d], s[a])), 16)
	s[c] = (s[c] + s[d]) % 4294967296
	s[b] = rotate(u32(bxor(s[b], s[c])), 12)
	s[a] = (s[a] + s[b]) % 4294967296
	s[d] = rotate(u32(bxor(s[d], s[a])), 8)
	s[c] = (s[c] + s[d]) % 4294967296
	s[b] = rotate(u32(bxor(s[b], s[c])), 7)
end

-- ChaCha20's state before and after its rounds; @tail has the last 16 bytes of the state
local function chacha(key, tail)
	local s, first = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }, {}

	for i = 0, 7 do
		s[5 + i] = word_le(key, 1 + 4 * i)
	end
	for i = 0, 3 do
		s[13 + i] = word_le(tail, 1 + 4 * i)
	end
	for i = 1, 16 do
		first[i] = s[i]
	end
	for _ = 1, 10 do
		quarter(s, 1, 5, 9, 13)
		quarter(s, 2, 6, 10, 14)
		quarter(s, 3, 7, 11, 15)
		quarter(s, 4, 8, 12, 16)
		quarter(s, 1, 6, 11, 16)
		quarter(s, 2, 7, 12, 13)
		quarter(s, 3, 8, 9, 14)
		quarter(s, 4, 5, 10, 15)
	end
	return s, first
end

-- HChaCha20: the key of one message, from the first 16 bytes of the nonce
local function hchacha(key, nonce)
	local s = chacha(key, nonce)
	local out = {}

	for _, i in ipairs({ 1, 2, 3, 4, 13, 14, 15, 16 }) do
		out[#out + 1] = bytes_le(s[i])
	end
	return table.concat(out)
end

-- 64 bytes of the key stream; the rest of the nonce is 0 here
local function chacha_block(key, counter)
	local s, first = chacha(key, bytes_le(counter) .. ("\0"):rep(12))
	local out = {}

	for i = 1, 16 do
		out[i] = bytes_le((s[i] + first[i]) % 4294967296)
	end
	return table.concat(out)
end

local function chacha_xor(key, text)
	local out, block = {}, ""

	for i = 1, #text do
		local k = (i - 1) % 64

		if k == 0 then
			block = chacha_block(key, floor((i - 1) / 64) + 1)
		end
		out[i] = string.char(bxor(text:byte(i), block:byte(k + 1)))
	end
	return table.concat(out)
end

-- a string as a number of ten limbs of 13 bits
local function limbs(str)
	local n, value, have_bits, at = {}, 0, 0, 1

	for i = 1, 10 do
		while have_bits < 13 do
			value = value + (str:byte(at) or 0) * 2 ^ have_bits
			have_bits = have_bits + 8
			at = at + 1
		end
		n[i] = value % 8192
		value = floor(value / 8192)
		have_bits = have_bits - 13
	end
	return n
end

-- limbs below 2^13, modulo 2^130 - 5
local function carry(n)
	for _ = 1, 2 do
		local c = 0

		for i = 1, 10 do
			n[i] = n[i] + c
			c = floor(n[i] / 8192)
			n[i] = n[i] % 8192
		end
		n[1] = n[1] + 5 * c
	end
end

local function poly1305(key, text)
	local clamp = {}

	for i = 1, 16 do
		local b = key:byte(i)

		if i % 4 == 0 then
			b = b % 16
		elseif i % 4 == 1 and i > 1 then
			b = b - b % 4
		end
		clamp[i] = string.char(b)
	end

	local r, h = limbs(table.concat(clamp)), limbs("")

	for at = 1, #text, 16 do
		local m = limbs(text:sub(at, at + 15) .. "\1")
		local p = {}

		for i = 1, 10 do
			h[i] = h[i] + m[i]
		end
		for i = 1, 10 do
			local sum = 0

			for j = 1, 10 do
				local k = i - j + 1

				-- what exceeds 2^130 counts five times
				sum = sum + h[j] * (k >= 1 and r[k] or 5 * r[k + 10])
			end
			p[i] = sum
		end
		carry(p)
		h = p
	end
	carry(h)

	-- subtract the modulus if it is not greater
	local g, c = {}, 5

	for i = 1, 10 do
		g[i] = h[i] + c
		c = floor(g[i] / 8192)
		g[i] = g[i] % 8192
	end
	if c > 0 then
		h = g
	end

	local out, value, bits, limb, over = {}, 0, 0, 1, 0

	for i = 1, 16 do
		while bits < 8 do
			value = value + (h[limb] or 0) * 2 ^ bits
			bits = bits + 13
			limb = limb + 1
		end
		over = over + value % 256 + key:byte(16 + i)
		out[i] = string.char(over % 256)
		over = floor(over / 256)
		value = floor(value / 256)
		bits = bits - 8
	end
	return table.concat(out)
end

local function fill16(text)
	return text .. ("\0"):rep(-#text % 16)
end

-- the payload, or nil if the key does not fit
local function trunk_open(key, head, sealed, tag)
	local k = hchacha(key, head:sub(9, 24))
	local mac = fill16(head) .. fill16(sealed) .. bytes_le(#head) .. ("\0"):rep(4) ..
		bytes_le(#sealed) .. ("\0"):rep(4)

	if poly1305(chacha_block(k, 0):sub(1, 32), mac) ~= tag then
		return nil
	end
	return chacha_xor(k, sealed)
end

local keys_text, keys = nil, {}

local function trunk_keys()
	if keys_text ~= p_trunk.prefs.keys then
		keys_text, keys = p_trunk.prefs.keys, {}
		for hex in keys_text:gmatch("%x+") do
			if #hex == 64 then
				keys[#keys + 1] = hex:gsub("..", function(h)
					return string.char(tonumber(h, 16))
				end)
			end
		end
	end
	return keys
end

local function trunk_payload(tvb, pinfo, root, t, type, payload)
	if type == 1 then
		p_eep.dissector(payload, pinfo, root)
		pinfo.cols.info:prepend("[trunk] ")
		return
	end
	pinfo.cols.protocol = "PW-TRUNK"
	if payload:len() < 24 then
		complain(t, note.length, "A hello has 24 bytes, %d are here", payload:len())
		return
	end
	t:add(trunk.challenge, payload(0, 8))
	t:add(trunk.echo, payload(8, 8))

	local a = add_addr(t, trunk.addr, payload(17, 3))

	t:add(trunk.mtu, payload(20, 4))
	pinfo.cols.info = fmt("Hello of half-router %s, MTU %d", addr_text(a), payload(20, 4):uint())
end

local function dissect_trunk(tvb, pinfo, root)
	local cap = tvb:len()
	local w = { tvb = tvb, start = 0, stop = cap, cut = cap < tvb:reported_len() }
	local t = root:add(p_trunk, tvb(0, cap))

	pinfo.cols.protocol = "PW-TRUNK"
	pinfo.cols.info = "Packet of a trunk"
	if not have(w, t, 0, 32, "Trunk header") then
		return cap
	end

	local type, flags = tvb(2, 1):uint(), tvb(3, 1):uint()
	local item

	t:add(trunk.version, tvb(1, 1))
	t:add(trunk.type, tvb(2, 1))
	item = t:add(trunk.half, tvb(3, 1))
	if flags > 3 then
		complain(item, note.reserved, "Only two flags are in use")
	end
	t:add(trunk.keyed, tvb(3, 1))
	t:add(trunk.hops, tvb(4, 1))
	t:add(trunk.priority, tvb(5, 1))
	t:add(trunk.id, tvb(6, 2))
	t:add(trunk.session, tvb(8, 8))
	t:add(trunk.seq, tvb(16, 8))
	if type == 1 then
		t:add(trunk.vtime, tvb(24, 8))
	else
		t:add(trunk.sum, tvb(24, 4))
	end
	t:append_text(fmt(", %s %s", type == 1 and "frame" or "hello", tostring(tvb(16, 8):uint64())))
	if band(flags, 2) == 0 then
		if cap > 32 then
			trunk_payload(tvb, pinfo, root, t, type, tvb(32):tvb())
		end
		return cap
	end
	pinfo.cols.info = fmt("Encrypted %s", type == 1 and "frame" or "hello")
	if not have(w, t, 32, 16, "Tag") then
		return cap
	end

	local size = cap - 48

	-- Ethernet fills hellos up: their size is known
	if type == 2 and size > 24 then
		size = 24
	end
	if size > 0 then
		t:add(trunk.data, tvb(32, size))
	end
	item = t:add(trunk.tag, tvb(32 + size, 16))

	local plain

	for _, key in ipairs(w.cut and {} or trunk_keys()) do
		plain = trunk_open(key, tvb:raw(0, 32), tvb:raw(32, size), tvb:raw(32 + size, 16))
		if plain then
			break
		end
	end
	t:add(trunk.tag_ok, tvb(32 + size, 16), plain ~= nil):set_generated()
	if not plain then
		complain(item, note_key, "No key of the preferences fits")
	elseif #plain > 0 then
		trunk_payload(tvb, pinfo, root, t, type,
			ByteArray.new(plain, true):tvb("Decrypted payload"))
	end
	return cap
end

function p_trunk.dissector(tvb, pinfo, root)
	return dissect_trunk(tvb, pinfo, root)
end

-- EEP's version is 0: a message never begins with 'P'
local function is_trunk(tvb)
	return tvb:len() >= 4 and tvb(0, 1):uint() == 0x50 and tvb(1, 1):uint() == 1 and
		tvb(2, 1):uint() >= 1 and tvb(2, 1):uint() <= 2 and tvb(3, 1):uint() <= 3
end

function dissect_trunk_maybe(tvb, pinfo, root)
	if tvb:len() < 32 or not is_trunk(tvb) then
		return false
	end
	dissect_trunk(tvb, pinfo, root)
	return true
end

local VTIME_UNIT = { [1] = "ns", [2] = "bit times", [3] = "cycles" }
local UNIT_NAMES = {
	[0] = "station", "ATON interface", "PPD", "SPD", "AAL unit", "half-router",
}
local DIR_NAMES = { [0] = "", " in", " out", " dropped" }

function p_mon.dissector(tvb, pinfo, root)
	local cap = tvb:len()
	local w = { tvb = tvb, start = 0, stop = cap, cut = cap < tvb:reported_len() }
	local t = root:add(p_mon, tvb(0, math.min(cap, 20)))

	pinfo.cols.protocol = "PW-MON"
	if not have(w, t, 0, 20, "Monitor pseudo-header") then
		return cap
	end

	local version, kind = tvb(0, 1):uint(), tvb(1, 1):uint()
	local dir, utype = tvb(2, 1):uint(), tvb(8, 1):uint()
	local item = t:add(mon.version, tvb(0, 1))

	if version ~= 1 then
		complain(item, note.unknown, "Version %d of the pseudo-header is not known", version)
		return cap
	end
	item = t:add(mon.kind, tvb(1, 1))
	if kind < 1 or kind > 3 then
		complain(item, note.unknown, "Kind %d is not assigned", kind)
	end
	item = t:add(mon.dir, tvb(2, 1))
	if dir > 3 then
		complain(item, note.unknown, "Direction %d is not assigned", dir)
	end
	aton_width = 64
	if kind == 2 and tvb(3, 1):uint() ~= 0 then
		item = t:add(mon.width, tvb(3, 1))
		item:append_text(" bits")
		aton_width = tvb(3, 1):uint()
		if aton_width > 64 then
			complain(item, note.illegal, "An operand has at most 64 bits")
			return cap
		end
	else
		item = t:add(mon.reserved, tvb(3, 1))
		if tvb(3, 1):uint() ~= 0 then
			complain(item, note.reserved, "Reserved bits are not zero")
		end
	end
	t:add(mon.san, tvb(4, 4))
	item = t:add(mon.unit_type, tvb(8, 1))
	if utype > 5 then
		complain(item, note.unknown, "Unit type %d is not assigned", utype)
	end
	t:add(mon.unit, tvb(9, 3))
	t:add(mon.vtime, tvb(12, 8)):append_text(" " .. (VTIME_UNIT[kind] or ""))

	local where = fmt("SAN %d, %s %d%s", tvb(4, 4):uint(),
		UNIT_NAMES[utype] or fmt("unit type %d", utype), tvb(9, 3):uint(),
		DIR_NAMES[dir] or "")

	t:append_text(", " .. where .. ", time " .. tostring(tvb(12, 8):uint64()))
	if cap == 20 then
		return cap
	end

	local inner = tvb(20):tvb()

	snapped = w.cut

	if kind == 1 then
		p_eep.dissector(inner, pinfo, root)
	elseif kind == 2 then
		p_aton.dissector(inner, pinfo, root)
	elseif kind == 3 then
		p_bmx.dissector(inner, pinfo, root)
	end
	snapped = false
	pinfo.cols.info:prepend("[" .. where .. "] ")
	return cap
end

-- other scripts may add dissectors for packet types
DissectorTable.new("pweep.pt", "PacketWay packet type", ftypes.UINT16, base.DEC, p_eep)

local types = DissectorTable.get("pweep.pt")

types:add(PT_SNMP, Dissector.get("snmp"))
types:add(PT_ETHERNET, Dissector.get("eth_withoutfcs"))

DissectorTable.get("ethertype"):add(ETHERTYPE_PACKETWAY, p_ether)
p_trunk:register_heuristic("udp", dissect_trunk_maybe)
DissectorTable.get("ethertype"):add(ETHERTYPE_PACKETWAY_MON, p_mon)
DissectorTable.get("wtap_encap"):add(wtap.USER0, p_mon)
DissectorTable.get("wtap_encap"):add(wtap.USER1, p_eep)
