/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data, and what several sections need of them. */
const R = data.results, nodes = R.nodes, factors = R.factors;
const pairs = new Map(
	R.covariances.map(([index, a, b, share, r, factor]) => [index, { index, a, b, share, r, factor }]));
const pairOf = new Map([...pairs.values()].map(p => [p.a + "," + p.b, p]));
nodes.forEach((n, i) => { n.id = i; });
factors.forEach((f, i) => { f.id = i; });
const children = n => nodes.slice(n.first_child, n.first_child + n.n_children);
function path(n) {
	const list = [];
	for (;; n = nodes[n.parent]) { list.unshift(n); if (!n.id) return list; }
}
const label = n => n.id ? n.display || n.name : R.interval || "interval";
const kindNames = {
	interval: "the interval",
	function: "function",
	site: "call of an external function",
	pointer: "call through a pointer",
	body: "own code (the rest of the parent)",
	wait: "a wait or an I/O call",
	queued: "queued: nobody worked for it",
	preempted: "preempted",
	undivided: "own code of the parent, or calls of its hot functions that were not timed"
};
/* How time was spent besides running the program's own code: [what, part] of a node's mean or of a factor's. */
const stateNames = [
	["blocked", "blocked"], ["kernel", "in the kernel"], ["io", "in I/O, blocked or in the kernel"],
	["preempted", "preempted"]
];
function statesOf(x, unit) {
	return stateNames.map(([key, name]) => [name, x[key + unit]]).filter(([, v]) => finite(v) && v > 0);
}
/* "blocked in read", or what is known of it. */
function waitText(n) {
	const list = statesOf(n, "_ns").map(([name]) => name).filter(name => name !== "preempted");
	const is = list.length === 1 ? list[0] : "";
	return (is === "blocked" ? "blocked in " : is === "in the kernel" ? "works in the kernel in " : "waits or works in ") +
			label(n);
}
const at = n => n.file ? n.file + (n.line > 0 ? ":" + n.line : "") : "";
const hasTail = finite(nodes.length ? nodes[0].tail_ns : NaN);
/* Values by which the tree can be drawn. */
const views = {
	variance: {
		text: "Variance",
		of: n => Math.max(0, n.share || 0),
		say: n => percent(n.share) + " of the variance"
	},
	mean: {
		text: "Mean",
		of: n => Math.max(0, n.mean_ns || 0),
		say: n => duration(n.mean_ns) + " of the mean"
	},
	tail: {
		text: "Tail",
		of: n => Math.max(0, (n.tail_ns || 0) - (n.rest_ns || 0)),
		say: n => (n.tail_ns >= n.rest_ns ? "+" : "") + duration(n.tail_ns - n.rest_ns) + " in the slowest"
	},
};
/* The heaviest node of a factor, and where it sits: the path from the interval. */
function firstNode(f) {
	if (!f.nodes.length) return null;
	if (f.kind === "variance") return f.nodes.map(i => nodes[i]).reduce((a, n) => n.share > a.share ? n : a);
	const p = pairs.get(f.nodes[0]);
	return p ? nodes[p.a] : null;
}
function place(f) {
	const n = firstNode(f);
	if (!n) return "";
	const list = path(n).slice(1, -1).filter(x => x.kind !== "body").map(label);
	const text = list.length > 5 ? [...list.slice(0, 2), "…", ...list.slice(-2)] : list;
	return text.map(s => cut(s, 60)).join(" › ") + (f.nodes.length > 1 ? ` (+${f.nodes.length - 1})` : "");
}
function excerptOf(n) {
	while (n.id && (n.kind === "body" || !n.file || n.line <= 0)) n = nodes[n.parent];
	return n.id ? data.excerpts.findIndex(x => x.file === n.file && x.line === n.line) : -1;
}
const selectable = [];	/* called with a node when one is selected anywhere */
function select(n, from) { for (const f of selectable) f(n, from); }
