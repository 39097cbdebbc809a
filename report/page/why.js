/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why: what others did under each wait, and the critical paths of single intervals (timeline.js). */
/* Waits of the interval itself, summed by place and object. */
function waits() {
	const groups = new Map();
	for (const n of nodes) {
		if (n.is_blame || !n.id) continue;
		const kids = children(n), wait = n.kind === "wait" || n.kind === "queued" || kids.some(k => k.is_blame);
		if (!wait || (nodes[n.parent].kind === "wait" && !kids.length)) continue;
		const key = n.object && n.object !== "several" ? n.name + "\n" + n.object :
			[n.name, at(n)].join("\n"),
			g = groups.get(key) || { nodes: [], share: 0, mean: 0 };
		g.nodes.push(n);
		g.share += n.share || 0;
		g.mean += n.mean_ns || 0;
		groups.set(key, g);
	}
	return [...groups.values()]
		.filter(g => g.share > 0.0005 || g.mean > 0.005 * R.mean_ns)
		.sort((a, b) => b.share - a.share);
}
/* From a wait down to where its time divides, so that a chain of callers is one line. */
function blameOf(wait) {
	const list = [], go = (n, chain) => {
		const kids = children(n), most = kids.reduce((a, k) => !a || k.mean_ns > a.mean_ns ? k : a, null);
		if (chain.length && !(most && most.mean_ns > 0.6 * n.mean_ns)) { list.push({ n, chain }); return; }
		for (const k of kids) {
			if (k.mean_ns <= 0.01 * wait.mean_ns) continue;
			if (k.kind === "body" && !chain.length) list.push({ n: k, chain: [k], rest: true });
			else if (k.kind === "body") list.push({ n: k, chain: [...chain, k] });
			else go(k, [...chain, k]);
		}
	};
	go(wait, []);
	return list.sort((a, b) => b.n.mean_ns - a.n.mean_ns);
}
function chainText(b) {
	if (b.rest) return "unexplained: nothing measured accounts for it";
	const names = b.chain.filter(n => n.kind !== "body").map(n => cut(label(n), 50)),
		last = b.chain[b.chain.length - 1];
	const shown = names.length > 5 ? [...names.slice(0, 2), "…", ...names.slice(-2)] : names;
	return shown.join(" › ") + (last.kind === "body" ? " itself" : "");
}
/* What others did during the waits of a group: the same chain of callers is one row. */
function blameRows(g) {
	const sums = new Map();
	for (const b of g.nodes.flatMap(blameOf)) {
		const text = chainText(b), sum = sums.get(text) || { ...b, text, mean: 0, share: 0 };
		sum.mean += b.n.mean_ns || 0;
		sum.share += b.n.share || 0;
		sums.set(text, sum);
	}
	return [...sums.values()].sort((a, b) => b.mean - a.mean).slice(0, 8);
}
function blameLine(b, most) {
	return el("li", null,
		el("span", { title: cut(b.chain.map(label).join(" › "), 400), style: "overflow-wrap:anywhere" },
			b.rest ? b.text :
				el("button.link", { type: "button", onclick: () => select(b.n, "why") }, b.text)),
		el("div.meter", { "aria-hidden": "true" },
			el("i", { style: `width:${Math.min(100, 100 * b.mean / most)}%` })),
		el("span.num.small", null, `${percent(b.mean / most)} of it, ${percent(b.share)} var.`));
}
/* Where a group of waits is, and on what object. */
function waitPlaces(g, n) {
	const places = [...new Set(g.nodes.map(at).filter(Boolean))];
	return [
		places.slice(0, 4).map(p => cut(p, 60)).join(", ") +
			(places.length > 4 ? `, ${places.length - 4} more` : ""),
		n.object ? "on " + n.object : "",
		g.nodes.length > 1 ? `in ${count(g.nodes.length)} places of the tree` : ""
	].filter(Boolean).join(", ");
}
function waitCard(g) {
	const n = g.nodes.sort((a, b) => b.share - a.share)[0], rows = blameRows(g), most = g.mean || 1;
	return el("div.card.wait", null,
		el("div", null,
			el("button.link.name",
				{ type: "button", title: cut(label(n), 300), onclick: () => select(n, "why") },
				n.kind === "queued" ? "queued: nobody worked for the interval" : waitText(n)),
			el("span.small.soft", null, waitPlaces(g, n))),
		el("div", null, el("b", null, percent(g.share)), ` of the variance, ${duration(g.mean)} of the mean`),
		rows.length ?
			el("ul.blame-list", { "aria-label": "What others did meanwhile" },
				rows.map(b => blameLine(b, most))) :
			el("p.small.soft", null, "What others did meanwhile is not measured yet."));
}
function blame(box) {
	const list = waits();
	if (!list.length) { box.append(note("The intervals hardly waited for other threads in this run.")); return; }
	for (const g of list.slice(0, 8)) box.append(waitCard(g));
	if (list.length > 8)
		box.append(el("p.small.soft", null, `and ${count(list.length - 8)} more, in the tree above`));
}
function why() {
	const box = byId("why");
	blame(box);
	crosstalk(box);
	timelines(box);
}
