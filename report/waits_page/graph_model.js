/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data: parties (vertices) and edges with their knots, and what is said of them. */
const R = data.results, parties = R.parties, edges = R.edges, knots = R.knots, recorded = R.duration_ns || 1;
parties.forEach((p, id) => Object.assign(p, { id, out: [], in: [], knot: null }));
edges.forEach((e, id) => {
	Object.assign(e, { id, a: parties[e.from], b: parties[e.to], knot: null, share: e.weight_ns / recorded });
	e.a.out.push(e);
	e.b.in.push(e);
});
knots.forEach((k, id) => {
	k.id = id;
	k.isLimit = k.verdict !== "background";
	k.members = k.parties.map(i => parties[i]);
	k.inside = k.edges.map(i => edges[i]).sort((a, b) => b.weight_ns - a.weight_ns || a.id - b.id);
	for (const p of k.members) if (!p.knot) p.knot = k;
	if (k.isLimit) for (const e of k.inside) e.knot = k;
});
const limits = knots.filter(k => k.isLimit), isLimiting = p => p.knot !== null && p.knot.isLimit;
const isBackground = p => p.knot !== null && !p.knot.isLimit;
for (const p of parties) {
	p.out.sort((a, b) => b.weight_ns - a.weight_ns || a.id - b.id);
	p.in.sort((a, b) => b.weight_ns - a.weight_ns || a.id - b.id);
	p.weight = sumOf(p.out, e => e.is_idle ? 0 : e.weight_ns) + sumOf(p.in, e => e.is_idle ? 0 : e.weight_ns);
}
function sumOf(list, of) { return list.reduce((sum, x) => sum + (of(x) || 0), 0); }
/* Steps of waiting from a party to a member of a limiting knot: 0 of the members themselves. */
function measureDistances() {
	let at = parties.filter(isLimiting);
	for (const p of parties) p.distance = isLimiting(p) ? 0 : Infinity;
	for (let d = 1; at.length; d++) {
		const next = [];
		for (const p of at)
			for (const e of p.in)
				if (!e.is_idle && e.a.distance === Infinity && !isBackground(e.a)) {
					e.a.distance = d;
					next.push(e.a);
				}
		at = next;
	}
}
measureDistances();
const kindWords = {
	thread: "thread",
	disk: "disk",
	network: "network interface",
	timer: "timer",
	interrupt: "interrupt",
	outside: "outside the recording"
};
const knotName = k => (k.verdict === "sink" ? "sink " : "knot ") + (k.id + 1);
const threadsText = n => n === 1 ? "1 thread" : `${count(n)} threads`;
const partyWhat = p => p.kind === "thread" ? threadsText(p.n_threads) : kindWords[p.kind];
const ofRecording = ns => percent(ns / recorded);
/* Of the recording and all of its threads: how much a party ran, could have run, waited. */
const stateParts = p => {
	const all = recorded * Math.max(1, p.n_threads);
	return [["running", p.running_ns / all], ["runnable", p.runnable_ns / all], ["blocked", p.blocked_ns / all]];
};
/* Who waits for whom, as the text report has it. */
function edgeWords(e) {
	if (e.is_idle) return `${e.a.name} waits for requests from ${e.b.name}`;
	return e.a === e.b ? `threads of ${e.a.name} wait for one another` : `${e.a.name} waits for ${e.b.name}`;
}
/* How long the waits are; of several threads each. */
function ownText(e) {
	const n = Math.max(1, e.a.kind === "thread" ? e.a.n_threads : 1);
	return (n > 1 ? `${count(n)} × ` : "") + ofRecording((e.is_idle ? e.weight_ns : e.own_ns) / n);
}
/* "fdatasync < save (a.c:3) [kernel: f < g]" as its functions, innermost first, those of the kernel last. */
function frames(stack) {
	const at = stack.endsWith("]") ? stack.lastIndexOf(" [kernel: ") : -1;
	if (at < 0) return stack.split(" < ");
	return [...stack.slice(0, at).split(" < "), ...stack.slice(at + 10, -1).split(" < ").map(f => "[kernel] " + f)];
}
/* The innermost function that says something: no inner one of libc, nor a wrapper of vprof's. */
function innermost(e) {
	if (!e.stacks.length || !e.stacks[0].wait) return "";
	const list = frames(e.stacks[0].wait), f = list.find(s => !/^_|\(sync_|^\[kernel\]|\+0x[0-9a-f]+$/.test(s)) || list[0];
	return f.replace(/ \([^()]*:\d+\)$/, "");
}
const hasGain = e => data.is_faithful && finite(e.halved) && finite(e.gone);
const gainText = x => x < 0.005 ? "nothing" : "+" + percent(x);
/* Waits by the stack of one side, heaviest first. */
function stacksBy(e, side) {
	const sums = new Map();
	for (const s of e.stacks) {
		const sum = sums.get(s[side]) || { text: s[side], weight: 0, n: 0 };
		sum.weight += s.weight_ns;
		sum.n += s.n;
		sums.set(s[side], sum);
	}
	return [...sums.values()].filter(s => s.text).sort((a, b) => b.weight - a.weight);
}
