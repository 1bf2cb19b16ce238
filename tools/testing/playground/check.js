// SPDX-License-Identifier: GPL-2.0
// check.js PAGE PWMODEL: the model of the page beside pwmodel; a line for each point
"use strict";
const fs = require("fs"), { execFileSync } = require("child_process");
const text = fs.readFileSync(process.argv[2], "utf8"), pwmodel = process.argv[3];
let bad = 0;

function point(good, what, more) {
	console.log(`${good ? "ok" : "not"} ${what}${good || more === undefined ? "" : " # " + more}`);
	bad += !good;
}
const same = (what, got, want) => point(String(got) === String(want), what, `got ${got}, expected ${want}`);

/* nothing is loaded from elsewhere */
const refs = [...text.matchAll(/(?:src|href)="([^"]*)"|url\(|\b(?:fetch|import|XMLHttpRequest|WebSocket|EventSource)\s*\(/g)];
same("the page loads nothing", refs.filter((r) => r[1] !== "data:,").length, 0);
same("and names no host", (text.match(/https?:\/\//g) || []).length, 0);

const page = { exports: {} };
new Function("module", text.match(/<script id="logic">([^]*?)<\/script>/)[1])(page);
const bytes = page.exports.decode(text.match(/id="wasm">([^]*?)<\/script>/)[1]);
same("the module needs nothing of the page", WebAssembly.Module.imports(new WebAssembly.Module(bytes)).length, 0);
const m = page.exports.make(bytes);

/* every operation in both engines as pwmodel, in as many bit times */
let seed = 7;
const chance = (n) => (seed = (seed * 48271) % 2147483647) % n;
for (const engine of ["fast", "rtl"]) {
	const operands = Array.from({ length: 60 }, () => chance(50));
	for (const op of Object.keys(page.exports.OPS)) {
		m.ring(operands.length, engine === "rtl");
		operands.forEach((v, i) => m.set(i, v));
		const mine = m.run(op, 0), theirs = JSON.parse(execFileSync(pwmodel, ["aton", op, "--engine", engine, ...operands.map(String)]));
		same(`${engine} ${op}: as pwmodel`, [mine.counter, mine.bits, mine.overflow, mine.error],
			[theirs.counter, theirs.ring_bits, theirs.overflow || false, 0]);
		if (op === "sort")
			same(`${engine} sort: in order`, mine.sorted, [...operands].sort((a, b) => a - b));
		else
			same(`${engine} ${op}: its value`, [mine.v1, mine.v2], [theirs.v1, theirs.v2]);
	}
}

/* 1,000 interfaces: the sum grows from one to the next */
const N = 1000, big = Array.from({ length: N }, (x, i) => i + 1);
for (const rtl of [false, true]) {
	const name = rtl ? "rtl" : "fast";
	m.ring(N, rtl);
	big.forEach((v, i) => m.set(i, v));
	const r = m.run("add", 0);
	same(`${name}: the sum of 1 to 1000`, [r.v1, r.counter, r.error], [500500, N, 0]);
	same(`${name}: a hop for each interface`, r.hops.map((h) => h.unit), big.map((v) => v - 1));
	let sum = 0, wrong = 0;
	r.hops.forEach((h, i) => { sum += big[i]; wrong += h.value !== BigInt(sum); });
	same(`${name}: partial sums`, wrong, 0);
	m.up(10, false);
	const less = m.run("add", 500);
	same(`${name}: one that is down takes no part`, [less.v1, less.counter, m.isUp(10)], [500500 - 11, N - 1, false]);
	m.up(10, true);

	/* faults: what the sender is told, and that the ring goes on */
	const stats = () => Object.fromEntries(m.stats());
	for (const [kind, what, error, count] of [[0, "a bit is inverted", 1, "bits inverted"], [1, "the packet is swallowed", 2, "packets swallowed"],
		[3, "the token vanishes", 0, "tokens lost, and made anew"], [4, "the token is sent twice", 0, "tokens sent twice"]]) {
		const before = stats()[count];
		same(`${name}: ${what}: it is taken`, m.fault(kind, 20, 100), 0);
		const f = m.run("add", 0);
		/* an interface that swallowed a packet is taken off the ring */
		same(`${name}: ${what}: interface 20`, m.isUp(20), kind !== 1);
		m.up(20, true);
		const g = m.run("add", 1);
		same(`${name}: ${what}: the sender is told`, [f.error, f.error ? "" : f.v1], [error, error ? "" : 500500]);
		same(`${name}: ${what}: it is counted`, stats()[count], before + 1);
		same(`${name}: ${what}: the next command is whole`, [g.error, g.v1], [0, 500500]);
	}
	m.fault(2, 0, 50);
	same(`${name}: the sender leaves`, [m.run("add", 3).error, m.isUp(3)], [3, false]);
	same(`${name}: it cannot send`, m.run("add", 3).refused !== undefined, true);
	m.up(3, true);
	same(`${name}: and comes back`, m.run("add", 3).v1, 500500);
}
same("too many interfaces", m.ring(5000, false), -1);
same("an interface that is none", [m.set(1000, 1), m.up(1000, true), m.run("add", 1000).refused], [-1, -1, -1]);
process.exit(bad ? 1 : 0);
