/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data as objects: contexts with their children, functions and figures; paths with their contexts. What is selected
 * is one context. A run alone has the side "new" only. */
const R = data.results;
const isComparison = !!R.base, sides = isComparison ? ["base", "new"] : ["new"];
const contexts = R.contexts.map((c, id) => ({ ...c, id, f: R.functions[c.function], children: [], up: null }));
const roots = [];
for (const c of contexts) {
	c.up = c.parent >= 0 ? contexts[c.parent] : null;
	(c.up ? c.up.children : roots).push(c);
}
const perUnit = (side, ns) => ns / Math.max(1e-12, R[side].n_units);
/* Time on the stack at least, and without what is idle, per unit. */
const timeOf = (c, side) => c[side] ? perUnit(side, c[side].low_ns) : 0;
const busyOwn = (c, side) => c[side] ? perUnit(side, Math.max(0, c[side].own_ns - c[side].own_idle_ns)) : 0;
const difference = c => busyOwn(c, "new") - busyOwn(c, "base");
const costOfAll = side => perUnit(side, R[side].total_ns - R[side].idle_ns);
const unitText = R.unit === "s" ? "per second" : `per call of ${R.unit}`;
for (const c of contexts)
	c.children.sort((a, b) => Math.max(timeOf(b, "new"), timeOf(b, "base")) - Math.max(timeOf(a, "new"), timeOf(a, "base")) || a.id - b.id);
roots.sort((a, b) => Math.max(timeOf(b, "new"), timeOf(b, "base")) - Math.max(timeOf(a, "new"), timeOf(a, "base")) || a.id - b.id);
const paths = R.paths.map((p, id) => ({ ...p, id, steps: p.steps.map(s => ({ ...s, c: contexts[s.context] })) }));
for (const p of paths) p.end = p.steps[(p.n_own || p.steps.length) - 1].c;
const callsOf = new Map();
for (const i of R.instances) callsOf.set(i.context, [...callsOf.get(i.context) || [], i]);
const layers = { program: "the program", library: "libraries", kernel: "the kernel" };
const fullName = c => c.f.file ? `${c.f.name} (${c.f.file})` : c.f.layer === "kernel" ? `${c.f.name} (kernel)` : c.f.name;
function pathOf(c) {
	const list = [];
	for (; c; c = c.up) list.unshift(c);
	return list;
}
const view = { selected: paths.length ? paths[0].end : roots[0] || null, zoom: null, hits: new Set() };
const listeners = [];
function select(c) {
	view.selected = c;
	for (const f of listeners) f();
}
function figuresText(c, side) {
	const x = c[side];
	if (!x) return `${side === "base" ? "base run" : "this run"}: not seen`;
	const lines = [];
	if (isComparison) lines.push(side === "base" ? "Base run" : "New run");
	lines.push(`on the stack ${between(x.low_ns, x.high_ns, duration)}`, `own time ${between(x.own_low_ns, x.own_high_ns, duration)}` +
		(x.own_off_ns > 0 ? `, without a CPU ${percent(x.own_off_ns / Math.max(1, x.own_ns))}` : "") +
		(x.own_idle_ns > 0 ? `, idle ${percent(x.own_idle_ns / Math.max(1, x.own_ns))}` : ""),
	`${between(x.calls_low, x.calls_high, count)} calls, mean ${between(x.call_low_ns, x.call_high_ns, duration)}, ` +
		`slowest ${between(x.slowest_low_ns, x.slowest_high_ns, duration)}`);
	return lines.join("\n");
}
