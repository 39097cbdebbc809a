/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data as objects: contexts with their children, the ones that may have most of the variance first. The first one is the
 * interval itself. */
const R = data.results.interval;
const contexts = R.layers.map((l, id) => ({ ...l, id, up: null, depth: 0, children: [] }));
for (const c of contexts.slice(1)) {
	c.up = contexts[c.parent];
	c.depth = c.up.depth + 1;
	c.up.children.push(c);
}
const whole = contexts[0] || null;
const varies = c => finite(c.share_high) ? c.share_high : 0;
for (const c of contexts) c.children.sort((a, b) => varies(b) - varies(a) || b.high_ns - a.high_ns || a.id - b.id);
/* Callers before what they call. */
const ordered = [];
for (const stack = whole ? [whole] : []; stack.length;) {
	const c = stack.pop();
	ordered.push(c);
	stack.push(...c.children.slice().reverse());
}
/* May it have a hundredth of the time or of the variance? Whoever calls it may, too. */
const counts = c => c.high_ns >= 0.01 * whole.high_ns || varies(c) >= 0.01;
function pathOf(c) {
	const list = [];
	for (; c; c = c.up) list.unshift(c.name);
	return list;
}
const view = { selected: null, hits: new Set() };
