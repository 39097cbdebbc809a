/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transaction contexts: which stages requests passed, and the calling context tree of each as a picture. */
const contextKinds = [["running_ns", "function", "running"], ["waiting_ns", "wait", "waiting"],
	["queued_ns", "queued", "queued"], ["preempted_ns", "preempted", "preempted"]];
const between = (low, high, shown) => finite(low) && finite(high) ? ` (${shown(low)} … ${shown(high)})` : "";
/* What a context's time consists of, as one bar. */
function contextBar(c) {
	const said = contextKinds.filter(([key]) => c[key] > 0)
		.map(([key, , name]) => `${name} ${percent(c[key] / c.total_ns)}` +
			between(c[name + "_low"], c[name + "_high"], percent)).join(", ");
	const svg = d3.create("svg").attr("viewBox", "0 0 200 14").attr("role", "img").attr("aria-label", said)
		.attr("style", "width:200px;height:14px");
	let x = 0;
	for (const [key, kind] of contextKinds) {
		const w = 200 * Math.max(0, c[key]) / (c.total_ns || 1);
		svg.append("rect").attr("class", "k-" + kind).attr("x", x).attr("width", w).attr("height", 14);
		x += w;
	}
	return el("div.tree", { title: said, style: "display:inline-block" }, svg.node());
}
/* Boxes from left to right within their parents: stages, calls, waits, and what others did meanwhile. */
function layContext(nodes, total, width) {
	const boxes = [], above = [];
	let root = 0;
	for (const n of nodes) {
		const parent = n.depth ? above[n.depth - 1] : null, w = width * n.total_ns / (total || 1);
		const box = { n, x: parent ? parent.next : root, w, depth: n.depth };
		box.next = box.x;
		if (parent) parent.next += w; else root += w;
		above.length = n.depth;
		above.push(box);
		if (w >= 1) boxes.push(box);
	}
	return boxes;
}
function contextBoxes(nodes, total, label, told) {
	const boxes = layContext(nodes, total, TREE_W), height = ((d3.max(boxes, b => b.depth) ?? 0) + 1) * ROW + 2;
	const svg = d3.create("svg").attr("viewBox", `0 0 ${TREE_W} ${height}`).attr("style", "min-width:760px")
		.attr("role", "img").attr("aria-label", cut(label, 300));
	const g = svg.selectAll("g.n").data(boxes).join("g").attr("class", b => "n" + (b.n.is_blame ? " blame" : ""));
	g.append("rect").attr("class", b => "k-" + b.n.kind).attr("x", b => b.x).attr("y", b => b.depth * ROW + 1)
		.attr("width", b => Math.max(0.5, b.w - 0.5)).attr("height", ROW - 1).attr("rx", 2);
	g.append("text").attr("x", b => b.x + 5).attr("y", b => b.depth * ROW + 16)
		.text(b => b.w < 40 ? "" : cut((b.n.kind === "interval" ? "→ " : "") + b.n.name, Math.floor(b.w / 8)));
	tipped(g, b => told(b.n).filter(s => s).join("\n"));
	return el("div.tree", null, svg.node());
}
function contextPicture(c) {
	return contextBoxes(c.profile, c.total_ns, `Calling context tree of ${c.name}`, n => [cut(n.name, 300),
		n.file ? `${cut(n.file, 200)}:${n.line}` : "",
		`${duration(n.total_ns)}, ${percent(n.total_ns / c.total_ns)} of the context's time; alone ${duration(n.own_ns)}`,
		n.is_blame ? "run by others while the interval waited" : ""]);
}
/* Functions on the stacks that a timer took of threads while they worked for the context. */
function samplesPicture(c) {
	const sampled = c.sampled ?? [], all = d3.sum(sampled, s => s.depth ? 0 : s.n);
	if (!all) return null;
	return el("div", null, el("p.small.soft", null,
		`Where its threads ran: ${count(all)} samples of their stacks, by function (kernel functions too).`),
		contextBoxes(sampled.map(s => ({ ...s, kind: "function", total_ns: s.n })), all,
			`Samples in ${c.name}, by function`, s => [cut(s.name, 300), s.name.startsWith("[") ? "" : cut(s.file || "kernel", 200),
				`${count(s.n)} samples, ${percent(s.n / all)}; in itself ${count(s.n_own)}`]));
}
function showContext(box, c) {
	box.textContent = "";
	box.append(el("h4", { style: "overflow-wrap:anywhere" }, cut(c.name, 300)),
		el("p", null, `${count(c.n)} requests, mean ${duration(c.mean_ns)}${between(c.mean_low, c.mean_high, duration)}, ` +
			`${percent(c.share)}${between(c.share_low, c.share_high, percent)} of all time` +
			(c.n < 60 ? "; inconclusive: too few requests for bounds" : "")),
		el("ol", null, c.stages.map(s => el("li", { style: "overflow-wrap:anywhere" },
			(s.program ? cut(s.program, 60) + ": " : "") + (cut(s.path, 300) || "the call path is not known")))),
		c.total_ns > 0 ? contextPicture(c) : null,
		el("p.small.soft", null,
			"A stage (→) contains the stages after it, a function what it calls. Dashed: run by others while requests waited."),
		samplesPicture(c));
}
function contexts(box) {
	const detail = el("div", { id: "context", "aria-live": "polite" });
	if (!R.contexts.some(c => !c.is_unknown || c.stages.length > 1)) return;
	box.append(el("div.card", null, el("h3", null, "By the stages that requests passed"),
		el("div.scroll", null, el("table", { id: "contexts" },
			el("tr", null, ["context", "requests", "mean", "of all time", "running, waiting, queued, preempted"].map(
				t => el("th", { scope: "col" }, t))),
			R.contexts.map(c => el("tr", null,
				el("td", { style: "overflow-wrap:anywhere" }, el("button.link", {
					type: "button", onclick: () => showContext(detail, c)
				}, cut(c.name, 160))),
				el("td.num", null, count(c.n)), el("td.num", null, duration(c.mean_ns)),
				el("td.num", { title: between(c.share_low, c.share_high, percent).trim() }, percent(c.share)), el("td", null, contextBar(c)))))),
		R.n_contexts > R.contexts.length ?
			el("p.small.soft", null, `${R.contexts.length} of ${count(R.n_contexts)} shown: vprof report transactions --by context`) :
			null,
		detail));
	showContext(detail, R.contexts[0]);
}
