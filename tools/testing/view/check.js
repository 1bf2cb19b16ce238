// SPDX-License-Identifier: GPL-2.0
// check.js DIRECTORY: the logic of pages without a browser; a line for each point
"use strict";
const fs = require("fs"), dir = process.argv[2];
let bad = 0;

function point(good, what, more) {
	console.log(`${good ? "ok" : "not"} ${what}${good || more === undefined ? "" : " # " + more}`);
	bad += !good;
}
const same = (what, got, want) => point(String(got) === String(want), what, `got ${got}, expected ${want}`);
function open(name) {
	const text = fs.readFileSync(`${dir}/${name}.html`, "utf8"), module = { exports: {} };
	new Function("module", text.match(/<script id="logic">([^]*?)<\/script>/)[1])(module);
	const data = JSON.parse(text.match(/id="data">([^]*?)<\/script>/)[1]);
	return [module.exports, module.exports.load(data), data];
}

/* the sum grows from interface to interface */
const [PW, ring] = open("ring"), r = ring.views[0], partial = [], operands = [];
for (let n = 1; n <= 8; n++) {
	const s = PW.ringState(r, n);
	partial.push(s.value);
	operands.push(s.hops[n - 1].operand);
	same(`hop ${n}: the packet is at its interface`, [s.now, s.hops.length], [n - 1, n]);
	point(PW.picture(r, n).includes(`>${s.value}<`), `hop ${n}: the picture shows ${s.value}`);
}
same("partial sums", partial, [3, 4, 8, 9, 14, 23, 25, 31]);
same("operands", operands, [3, 1, 4, 1, 5, 9, 2, 6]);
same("before the first hop the ring has no packet", PW.ringState(r, 0).hops.length, 0);
point(/class="big"[^>]*>31</.test(PW.picture(r, 8)), "the last frame shows 31");
point(/class="big"[^>]*>14</.test(PW.picture(r, 5)), "back at hop 5 it shows 14");
const fields = new Map(PW.fields(ring.events[7]));
same("decoded fields", ["Operation", "Counter", "Variable-1", "Unit", "Execution region"].map((f) => fields.get(f)),
	["ADD", 8, 31, "interface 7", "whole ring"]);

/* cells: what is held grows and falls to nothing; stored states agree with single steps */
for (const name of ["clos", "trace"]) {
	const [, model] = open(name), v = model.views[0];
	let most = 0, wrong = 0;
	const now = new Int32Array(v.stages);
	for (let n = 1; n <= v.events.length; n++) {
		const m = v.events[n - 1].msg;
		if (v.from[n - 1] >= 0 && v.from[n - 1] < v.stages && m.src !== null)
			now[v.from[n - 1]]--;
		if (v.to[n - 1] >= 0 && v.to[n - 1] < v.stages && m.src !== null)
			now[v.to[n - 1]]++;
		most = Math.max(most, ...now);
		wrong += n % 97 === 0 && String(PW.fabricState(v, n)) !== String(now);
	}
	same(`${name}: ports`, v.ports, 16);
	same(`${name}: stored states are those of single steps`, wrong, 0);
	same(`${name}: queue heat`, most, v.most);
	point(most > 3, `${name}: queues grow under contention`, most);
	same(`${name}: nothing is left`, PW.fabricState(v, v.events.length).reduce((a, b) => a + b, 0), 0);
	point(/heat/.test(PW.picture(v, v.events.length >> 1)), `${name}: heat in the picture`);
}

/* switches and links of another topology, from the file */
for (const name of ["torus", "torus-trace", "own", "butterfly", "butterfly-trace"]) {
	const [, model, data] = open(name), v = model.views.find((x) => x.ports), picture = PW.picture(v, v.events.length >> 1);
	const torus = !/^butterfly/.test(name), g = v.grid || { peer: [], k: 1 };
	same(`${name}: a box for each switch`, (picture.match(/<rect class="line"/g) || []).length, torus ? 16 : 8);
	point(picture.includes(`>${data.fabric && data.fabric.topology}<`), `${name}: the picture names it`);
	point(!/stage 2/.test(picture), `${name}: there are no stages`);
	/* two links for each station, four from each switch of the torus and of the first column of the butterfly */
	const wires = (picture.match(/class="wire" d="([^"]*)"/) || ["", ""])[1].split("M").slice(1);
	same(`${name}: its links`, wires.length, 16 * 2 + (torus ? 16 : 4) * 4);
	point(!/NaN|undefined/.test(picture), `${name}: each has a place`);
	same(`${name}: links leave the switches that they belong to`,
		new Set(wires.filter((w, i) => i >= 16).map((w) => w.split("L")[0])).size, torus ? 16 : 8);
	same(`${name}: switches stand in columns if cells pass them in one direction`,
		new Set(wires.filter((w, i) => i >= 16).map((w) => w.split(" ")[0])).size, torus ? 4 : 2);
	/* cells go along links only */
	const strays = v.from.filter((f, i) => f >= 0 && f < v.stages && v.to[i] >= 0 && v.to[i] < v.stages &&
		!g.peer.some((to, o) => to === v.to[i] && Math.floor(o / g.k) === Math.floor(f / g.k)));
	same(`${name}: cells pass links only`, strays.length, 0);
}

/* a topology, which the page knows of a lab: a cell comes from where it was last */
{
	const data = open("torus")[2];
	delete data.fabric;
	data.lab = { name: "lab", sans: [{ id: 0, ports: 16, topology: "torus:4x4", switches: 16, "switch-ports": 5 }],
		stations: [{ san: 0, port: 0, addr: 1, name: "a" }] };
	const v = PW.load(data).views.find((x) => x.grid), k = 5;
	point(v, "torus: the switches are known");
	const links = new Set(), half = v.events.length >> 1;
	v.from.forEach((f, i) => {
		if (f >= 0 && f < v.stages && v.to[i] >= 0 && v.to[i] < v.stages)
			links.add(Math.floor(f / k) + "-" + Math.floor(v.to[i] / k));
	});
	/* switches 4 * y + x are joined to their neighbours in both dimensions, around the edges */
	const near = (a, b) => a !== b && (a >> 2 === b >> 2 ? [1, 3].includes(Math.abs(a - b)) : a % 4 === b % 4 && [4, 12].includes(Math.abs(a - b)));
	point(links.size > 20, "torus: cells pass many links", links.size);
	same("torus: only links that there are", [...links].filter((l) => !near(...l.split("-").map(Number))), "");
	same("torus: nothing is left", PW.fabricState(v, v.events.length).reduce((a, b) => a + b, 0), 0);
	point(PW.picture(v, half).includes(">torus:4x4<"), "torus: the picture names it");
	same("torus: a box for each switch", PW.picture(v, half).match(/<rect class="line"/g).length, 16);
}

/* routers: the path of an echo from SAN 3 to SAN 1 by source route */
const [, sans] = open("sans"), v = sans.views[0];
same("SANs", v.sans.map((s) => s.id), [1, 2, 3]);
same("routers between them", v.links.length, 3);
const path = PW.sansState(v, 44).path.map((e) => `${e.san}.${e.unit}`);
same("path of a message", path, ["3.0", "3.14", "1.14", "1.1"]);
same("its type", new Map(PW.fields(v.events[43])).get("Type"), "echo request");
same("a message to all half-routers", PW.sum(v.events[24]), "SAN 3, station 0 out: RRP HRTO, 00:03:01 to 7f:ff:fe");

/* a page that lives: records that arrive in batches make the same pictures as all at once */
for (const name of ["ring", "clos", "sans"]) {
	const [, whole, data] = open(name), live = PW.load({ ...data, frames: [], live: true });
	for (let i = 0, n = 1; i < data.frames.length; i += n, n = n % 37 + 5)
		PW.append(live, data.frames.slice(i, i + n));
	same(`${name}: as many events in batches`, live.events.length, whole.events.length);
	let differ = 0;
	for (const v of whole.views) {
		const w = live.views.find((x) => x.kind === v.kind && x.san === v.san);
		for (let n = 0; n <= v.events.length; n += 1 + (v.events.length >> 6))
			differ += PW.picture(v, n) !== PW.picture(w, n);
	}
	/* cells of a capture are sorted by their time, those of a stream are not */
	if (name === "clos")
		same("clos: nothing is left in batches either", PW.fabricState(live.views[0], live.events.length).reduce((a, b) => a + b, 0), 0);
	else
		same(`${name}: the same pictures in batches`, differ, 0);
}
const lossy = PW.load({ title: "x", source: "capture", frames: [], live: true });
PW.append(lossy, [[0, "l", "7"], [5, "m", open("ring")[2].frames[0][2]], [0, "l", "2"]]);
same("lost records are counted", [lossy.lost, lossy.events.length], [9, 1]);

/* a lab before its first record, with names that a page must not take for its own */
const lab = { name: "x", sans: [{ id: 1, ports: 16 }, { id: 2, ports: 16 }],
	stations: [{ name: "one", san: 1, port: 3, addr: "00:01:04" }, { name: "<b>", san: 1, port: 0, addr: "00:01:01" },
		{ name: "a_long_name", san: 2, port: 0, addr: "00:02:01" }],
	routers: [{ name: "ab", halves: [{ san: 1, port: 15 }, { san: 2, port: 15 }] }] };
const still = PW.load({ title: "x", source: "capture", frames: [], live: true, lab });
same("its views", still.views.map((v) => v.label), ["Ring of SAN 1", "Ring of SAN 2", "SANs"]);
const empty = still.views.map((v) => PW.picture(v, 0));
point(empty[0].includes(">one<") && empty[0].includes("&lt;b&gt;") && !empty[0].includes("<b>") && /token/.test(empty[0]),
	"stations on the ring by name, in the order of ports", empty[0]);
point(empty[0].indexOf("&lt;b&gt;") < empty[0].indexOf(">one<"), "the lowest port is the first interface");
point(empty[0].indexOf(">one<") < empty[0].indexOf(">ab<"), "a half-router is an interface, too", empty[0]);
point(empty[2].includes("a_long…") && still.views[2].links.length === 1, "SANs and the router between them", empty[2]);

/* damaged records end in a picture too */
let thrown = 0;
for (const [model, data] of [open("ring"), open("sans")].map((o) => [o[1], o[2]]))
	for (let cut = 0; cut < 120; cut += 7) {
		const d = { ...data, frames: data.frames.map((f) => [f[0], f[1], f[2].slice(0, 2 * cut)]) };
		try {
			for (const w of PW.load(d).views)
				PW.picture(w, w.at.length);
			PW.load(d).events.forEach((e) => PW.sum(e) + PW.fields(e));
		} catch (e) {
			thrown++;
			console.log("not cut to " + cut + " # " + e.stack.split("\n").slice(0, 2));
		}
	}
same("records that are cut short", thrown, 0);

/* 10^5 events: any frame takes a small part of all of them */
const big = { ...open("clos")[2] };
big.frames = Array.from({ length: 100000 }, (x, i) => big.frames[i % big.frames.length]);
const long = PW.load(big), w = long.views[0];
let steps = 0;
const counted = new Proxy(w.events, { get(t, k) { steps += typeof k === "string" && /^\d+$/.test(k); return t[k]; } });
for (let n = 1; n < 100000; n += 9973)
	PW.fabricState({ ...w, events: counted }, n);
point(long.events.length === 100000 && steps <= 11 * 2 * 1024, "10^5 events: a frame looks at few of them", steps);
process.exit(bad ? 1 : 0);
