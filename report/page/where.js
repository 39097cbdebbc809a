/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where: the tree as an icicle. A child's width is its value; where children together exceed their parent
 * (they move against one another) they are scaled to fit. What the children lack in the variance view is
 * what they share: their covariance, hatched. */
const treeState = { root: nodes[0], view: "variance", selected: nodes[0], hits: new Set(), rects: [] };
const ROW = 24, TREE_W = 1120, LEAST = 1.2;
function layTree() {
	const of = views[treeState.view].of, list = [];
	const lay = (n, x, w, depth) => {
		list.push({ n, x, w, depth });
		const kids = children(n), sum = d3.sum(kids, of), total = Math.max(sum, of(n));
		if (!(total > 0)) return;
		let at = x;
		for (const k of [...kids].sort((a, b) => of(b) - of(a))) {
			const kw = w * of(k) / total;
			if (kw < LEAST) break;
			lay(k, at, kw, depth + 1);
			at += kw;
		}
		if (treeState.view === "variance" && kids.length > 1 && sum < 0.995 * total &&
			w * (1 - sum / total) > 3)
			list.push({
				n,
				x: x + w * sum / total,
				w: w * (1 - sum / total),
				depth: depth + 1,
				together: 1 - sum / total
			});
	};
	lay(treeState.root, 0, TREE_W, 0);
	return list;
}
function nodeText(n) {
	const lines = [
		cut(label(n), 200),
		kindNames[n.kind] + (n.is_blame ? ", run by others while the interval waited" : "")
	];
	if (at(n)) lines.push(cut(at(n), 120));
	lines.push(views.variance.say(n) + ", mean " + duration(n.mean_ns) + ", sd " +
		duration(Math.sqrt(Math.max(0, n.var_ns2))));
	if (hasTail) lines.push(`slowest ${duration(n.tail_ns)}, others ${duration(n.rest_ns)}`);
	lines.push(`${count(n.n_calls)} calls in ${count(n.n_intervals)} intervals`);
	return lines.join("\n");
}
let drawTree = () => {}, showNode = () => {};
function zoomTo(n) { treeState.root = n; drawTree(); keepState(); }
/* In the address: node, view and zoom of the tree, as far as they are not those that the page begins with. */
function keepState() {
	const parts = [["n", treeState.selected.id], ["z", treeState.root.id], ["v", treeState.view === "variance" ? 0 : treeState.view]];
	const text = parts.filter(([, x]) => x).map(p => p.join("=")).join("&");
	if (text || /^[nzv]=/.test(address.get())) address.set(text, true);
}
function readState() {
	const parts = new Map(address.get().split("&").map(s => s.split("=")));
	const at = key => /^\d{1,9}$/.test(parts.get(key) || "") ? nodes[+parts.get(key)] || null : null;
	treeState.selected = at("n") || treeState.selected;
	treeState.root = at("z") || treeState.root;
	if (Object.keys(views).includes(parts.get("v")) && (parts.get("v") !== "tail" || hasTail)) treeState.view = parts.get("v");
	return !!at("n");
}
function move(n, key) {
	const kids =
		treeState.rects.filter(r => !r.together && r.n.parent === n.id && r.n.id).sort((a, b) => a.x - b.x);
	const siblings = treeState.rects.filter(r => !r.together && r.n.parent === n.parent && r.n.id)
		.sort((a, b) => a.x - b.x)
		.map(r => r.n),
		i = siblings.indexOf(n);
	if (key === "ArrowDown") return kids.length ? kids[0].n : null;
	if (key === "ArrowUp") return n === treeState.root ? null : nodes[n.parent];
	if (n === treeState.root) return null;
	return key === "ArrowRight" ? siblings[i + 1] : key === "ArrowLeft" ? siblings[i - 1] : null;
}
function icicle(box) {
	const svg = d3.select(box)
		.append("svg")
		.attr("role", "tree")
		.attr("aria-label", "Variance tree")
		.attr("id", "icicle");
	addHatch(svg);
	drawTree = focus => {
		const list = treeState.rects = layTree(), H = (d3.max(list, r => r.depth) + 1) * ROW + 2;
		svg.attr("viewBox", `0 0 ${TREE_W} ${H}`).attr("style", `min-width:760px`);
		drawBoxes(svg, list);
		if (!list.some(r => r.n === treeState.selected && !r.together)) svg.select("g.n").attr("tabindex", 0);
		if (focus) { const e = svg.select("g.sel").node(); if (e) e.focus(); }
	};
	svg.on("keydown", treeKey);
}
function addHatch(svg) {
	const pattern = svg.append("defs")
		.append("pattern")
		.attr("id", "hatch")
		.attr("width", 6)
		.attr("height", 6)
		.attr("patternUnits", "userSpaceOnUse")
		.attr("patternTransform", "rotate(45)");
	pattern.append("rect")
		.attr("width", 6)
		.attr("height", 6)
		.attr("fill", "var(--faint)")
		.attr("stroke", "none");
	pattern.append("line").attr("y2", 6).attr("stroke", "var(--hatch)").attr("stroke-width", 2);
}
function drawBoxes(svg, list) {
	const g = svg.selectAll("g.n").data(list, r => r.n.id + (r.together ? "t" : "")).join(enter => {
		const e = enter.append("g");
		e.append("rect");
		e.append("text");
		return e;
	});
	describeBoxes(g);
	g.select("rect")
		.attr("class", r => r.together ? "" : "k-" + r.n.kind)
		.attr("fill", r => r.together ? "url(#hatch)" : null)
		.attr("x", r => r.x)
		.attr("y", r => r.depth * ROW + 1)
		.attr("width", r => Math.max(0.5, r.w - 0.5))
		.attr("height", ROW - 1)
		.attr("rx", 2);
	g.select("text").attr("x", r => r.x + 5).attr("y", r => r.depth * ROW + 16).text(boxText);
	tipped(g, r => r.together ? togetherText(r) : nodeText(r.n));
	g.on("click", r => {
		if (!r.together) select(r.n, "tree");
	}).on("dblclick", r => {
		if (!r.together) zoomTo(r.n);
	});
}
/* State of each box, for its looks and for those who hear the page. */
function describeBoxes(g) {
	const selected = r => r.n === treeState.selected && !r.together;
	g.attr("class",
		r => "n" + (r.n.is_blame && !r.together ? " blame" : "") + (selected(r) ? " sel" : "") +
			(treeState.hits.size ? treeState.hits.has(r.n.id) && !r.together ? " hit" : " dim" : ""))
		.attr("data-node", r => r.together ? null : r.n.id)
		.attr("role", r => r.together ? "presentation" : "treeitem")
		.attr("aria-label",
			r => r.together ? null : cut(label(r.n), 120) + ", " + views[treeState.view].say(r.n))
		.attr("aria-level", r => r.together ? null : r.depth + 1)
		.attr("aria-selected", r => r.together ? null : r.n === treeState.selected)
		.attr("tabindex", r => selected(r) ? 0 : -1);
}
/* As much of the name and the value as the box has room for. */
function boxText(r) {
	const room = Math.floor((r.w - 9) / 6.9);
	if (room < 3) return "";
	if (r.together) return cut("move together " + percent(r.together * (r.n.share || 0)), room);
	const value = treeState.view === "variance" ? percent(r.n.share) :
		treeState.view === "mean" ? duration(r.n.mean_ns) :
			duration(r.n.tail_ns - r.n.rest_ns);
	const name = label(r.n);
	return room > name.length + value.length + 2 ? name + "  " + value : cut(name, room);
}
function togetherText(r) {
	return `Its parts move together: ${percent(r.together * (r.n.share || 0))} of the variance is ` +
		`covariance between the children of ${cut(label(r.n), 100)}`;
}
function treeKey() {
	const e = d3.event, id = e.target.getAttribute && e.target.getAttribute("data-node"),
		n = id === null ? null : nodes[+id];
	if (!n) return;
	const to = e.key.startsWith("Arrow") ? move(n, e.key) : null;
	if (e.key === "Enter" || e.key === " ") {
		zoomTo(n === treeState.root ? nodes[n.parent] : n);
		select(n, "keys");
	} else if (e.key === "Escape" || e.key === "Home") {
		zoomTo(nodes[0]);
		select(nodes[0], "keys");
	} else if (to)
		select(to, "keys");
	else if (!e.key.startsWith("Arrow"))
		return;
	e.preventDefault();
	drawTree(true);
}
/* Covariances between the largest children, their variances on the diagonal. */
function heat(n) {
	const kids = children(
		n).filter(k => Math.abs(k.share) >= 0.0005)
			.sort((a, b) => b.share - a.share)
			.slice(0, 10)
			.sort((a, b) => a.id - b.id);
	if (kids.length < 2) return null;
	const value = (a, b) => {
		if (a === b) return a.share;
		const p = pairOf.get(Math.min(a.id, b.id) + "," + Math.max(a.id, b.id));
		return p ? p.share : NaN;
	};
	const most = d3.max(kids, a => d3.max(kids, b => Math.abs(value(a, b)) || 0)) || 1;
	const cell = (a, b) => {
		const v = value(a, b),
			p = a === b ? null : pairOf.get(Math.min(a.id, b.id) + "," + Math.max(a.id, b.id)),
			strength = finite(v) ? Math.round(45 * Math.abs(v) / most) : 0;
		return el("td", {
			style: `background:color-mix(in srgb, var(${v < 0 ? "--neg" : "--pos"}) ${strength}%, var(--faint))`,
			title: `${cut(label(a), 80)}${a === b ? "" : " and " + cut(label(b), 80)}: ${percent(v)} of the variance` +
				(p && finite(p.r) ? `, r = ${p.r.toFixed(2)}` : "")
		},
			finite(v) ? percent(v) : "-");
	};
	return el("div", null, el("h3", null, "How its parts move together"),
		el("p.small.soft", null,
			"Diagonal: variance. Elsewhere: what a pair adds, twice its covariance. All in shares of the " +
				"interval's variance."),
		el("div.scroll", null,
			el("table.heat", null,
				el("tr", null, el("td", { style: "background:none" }),
					kids.map(
						k => el("th", { scope: "col", title: cut(label(k), 300) }, cut(label(k), 18)))),
				kids.map((a, i) => el("tr", null,
					el("th", { scope: "row", title: cut(label(a), 300) }, cut(label(a), 24)),
					kids.map((b, j) => j <= i ? cell(a, b) :
						el("td", { style: "background:none" })))))));
}
/* The path to a node: a button for each node on it. */
function crumbsOf(n) {
	const crumbs = el("div.crumbs", { "aria-label": "Path from the interval" });
	for (const x of path(n))
		crumbs.append(x.id ? " › " : "",
			el("button", {
				type: "button",
				title: cut(label(x), 300),
				"aria-current": x === n ? "true" : null,
				onclick: () => {
					zoomTo(x);
					select(x, "crumbs");
				}
			},
				cut(label(x), 60)));
	return crumbs;
}
/* What is known of a node: rows of [what, value]. */
function nodeRows(n) {
	const rows = [[
		"is",
		kindNames[n.kind] + (n.is_blame ? ", run by others while the interval waited" : "") +
			(n.broken_down ? "; its callees are measured" : "")
	]];
	if (at(n)) rows.push(["at", at(n)]);
	if (n.object) rows.push(["waits on", n.object]);
	rows.push(["share of variance", percent(n.share)],
		["mean, sd", duration(n.mean_ns) + ", " + duration(Math.sqrt(Math.max(0, n.var_ns2)))]);
	if (hasTail)
		rows.push([
			"slowest, others",
			`${duration(n.tail_ns)}, ${duration(n.rest_ns)} ` +
				`(${n.tail_ns >= n.rest_ns ? "+" : ""}${duration(n.tail_ns - n.rest_ns)})`
		]);
	if (n.id)
		rows.push([
			"calls",
			(n.n_calls ? `${count(n.n_calls)} in ` : "in ") + `${count(n.n_intervals)} intervals` +
				(n.n_timed < n.n_calls ? `, ${count(n.n_timed)} timed` : "")
		]);
	for (const [name, ns] of statesOf(n, "_ns")) rows.push([name, `${duration(ns)} of its mean`]);
	if (n.probe_ns > 0) rows.push(["probes", `${duration(n.probe_ns)} of its mean`]);
	if (n.factor)
		rows.push(["factor", `${n.factor}, ${percent(factors[n.factor - 1].share)} over all its places`]);
	return rows;
}
function nodeDetail(box) {
	showNode = n => {
		const button = (text, act, disabled) => el("button", { type: "button", disabled, onclick: act }, text);
		const actions = el("div.bar-row", null, button("Zoom in", () => zoomTo(n), !n.n_children),
			button("Whole tree", () => zoomTo(nodes[0])),
			excerptOf(n) >= 0 ? button("Show its code", () => showCode(excerptOf(n))) : null);
		const h = heat(n),
			left = el("div", null,
				el("dl", null, nodeRows(n).map(([k, v]) => [el("dt", null, k), el("dd", null, v)])), actions);
		box.textContent = "";
		box.append(crumbsOf(n), el("div" + (h ? ".two" : ""), null, left, h));
	};
}
const viewHints = {
	variance:
		"Widths are shares of variance; hatched is what the parts beside it share by moving together. Where " +
			"parts move against one another they are scaled to fit.",
	mean: "Widths are parts of the mean latency.",
	tail: `Widths are what a part takes more in the slowest ${count(R.n_tail || 0)} intervals than in the ` +
		`others; parts that take less are left out.`
};
function treeBar(set) {
	const options = Object.entries(views)
		.map(([k, v]) => [k, v.text, k === "tail" && !hasTail ? "not recorded in this run" : ""]);
	return el("div.bar-row", null, choice("Widths by", options, treeState.view, set),
		el("button", { type: "button", onclick: () => zoomTo(nodes[treeState.root.parent]) }, "Up"),
		el("button", { type: "button", onclick: () => zoomTo(nodes[0]) }, "Whole tree"),
		el("span.right.small.soft", null, `${count(nodes.length)} nodes`));
}
function treeLegend() {
	const kinds = [...new Set(nodes.map(n => n.kind))].filter(k => k !== "interval");
	return el("div.legend", null,
		kinds.map(k => el("span", null, el("i", { class: "k-" + k, style: `background:var(--k-${k})` }),
			kindNames[k])),
		el("span", null, el("i", {
			style: "background:repeating-linear-gradient(45deg,var(--hatch) 0 2px,var(--faint) 2px 5px)"
		}),
			"parts that move together"));
}
/* A node selected anywhere is shown: where the root does not hold it, the root moves. */
function followSelection(card) {
	selectable.push((n, from) => {
		treeState.selected = n;
		if (!layTree().some(r => r.n === n))
			treeState.root =
				path(n).reverse().find(x => x !== n && views[treeState.view].of(x) > 0) || nodes[0];
		drawTree(from === "tree");
		showNode(n);
		keepState();
		if (from === "causes" || from === "search" || from === "why") {
			card.scrollIntoView({ block: "start" });
			drawTree(true);
		}
	});
}
function where() {
	const box = byId("where");
	if (nodes.length < 2) {
		box.append(note(
			"Nothing below the interval is measured in this run: round 0 measures latencies only. vprof iterate " +
				"continues."));
		return;
	}
	const holder = el("div.tree"), hint = el("p.small.soft"),
		detail = el("div", { id: "node", "aria-live": "polite" });
	const set = v => {
		treeState.view = v;
		keepState();
		hint.textContent = viewHints[v] +
			" Dashed: run by others while the interval waited. Click selects, double click or Enter zooms, arrows " +
				"move.";
		drawTree();
	};
	treeState.isLinked = readState();
	const card = el("div.card", null, treeBar(set), holder, treeLegend(), hint);
	box.append(card, el("div.card", null, detail));
	icicle(holder);
	nodeDetail(detail);
	followSelection(card);
	set(treeState.view);
	showNode(treeState.selected);
	contexts(box);
}
