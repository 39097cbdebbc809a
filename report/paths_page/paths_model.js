/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results: tiers with a colour each, requests with their visits as trees, patterns with an example each. */
const R = data.results;
const tiers = R.tiers.filter(t => !t.is_transit), colours = 8;
const tierNumber = new Map(tiers.map((t, i) => [t.name, i]));
const colour = name => "t" + (tierNumber.has(name) ? tierNumber.get(name) % colours : colours - 1);
const requests = (R.requests || []).slice().sort((a, b) => b.latency_ns - a.latency_ns);
/* A request's visits with their calls; a visit's number is its place in the list. */
function treeOf(request) {
	const nodes = request.visits.map((visit, i) => ({ visit, i, calls: [] }));
	for (const n of nodes) if (n.visit.parent !== null && n.visit.parent < n.i) nodes[n.visit.parent].calls.push(n);
	return nodes[0] || null;
}
/* Calls that are alike and follow one another are one, with a count. */
function fold(node) {
	const calls = [];
	for (const c of node.calls.map(fold)) {
		const last = calls[calls.length - 1];
		if (last && last.key === c.key) {
			last.count++;
			last.total_ns += c.total_ns;
		} else
			calls.push(c);
	}
	const key = JSON.stringify([node.visit.tier, calls.map(c => [c.key, c.count])]);
	return { tier: node.visit.tier, how: node.visit.how, calls, key, count: 1, total_ns: node.visit.latency_ns };
}
/* Pictures, built element by element. */
const drawn = e => ({
	append: tag => drawn(e.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag))),
	attr(k, v) { e.setAttribute(k, v); return this; },
	text(t) { e.textContent = t; return this; },
	tip(t) {
		e.addEventListener("mousemove", m => showTip(t, m.clientX, m.clientY));
		e.addEventListener("mouseleave", hideTip);
		return this;
	}
});
const picture = (box, width, height, label) =>
	drawn(box).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
const scale = (from, to, left, right) => t => left + (to > from ? (t - from) / (to - from) : 0) * (right - left);
/* Some five round steps of a length. */
function steps(length) {
	const rough = length / 5, power = Math.pow(10, Math.floor(Math.log10(rough))), step = [1, 2, 5, 10].map(x => x * power).find(x => x >= rough) || rough, out = [];
	for (let t = 0; t <= length && out.length < 12; t += step) out.push(t);
	return out;
}
const view = { request: null, hits: "" };
const isHit = name => view.hits !== "" && name.toLowerCase().includes(view.hits);
