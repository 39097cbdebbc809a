/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture: edges below, vertices above them. A thread is a box with how it spent its time at its foot, several alike
 * ones are a stack of boxes; a disk is a drum, a network interface a hexagon, a timer a clock, an interrupt a lozenge,
 * what is outside a dashed box. */
const NS = "http://www.w3.org/2000/svg";
function draw(tag, attributes, ...children) {
	const e = document.createElementNS(NS, tag);
	for (const [k, v] of Object.entries(attributes)) if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v);
	for (const c of children.flat(Infinity)) if (c !== null && c !== undefined && c !== false) e.append(c);
	return e;
}
const shapes = {
	thread: ({ x, y, w, h }) => `M${x + 7},${y} h${w - 14} a7,7 0 0 1 7,7 v${h - 14} a7,7 0 0 1 -7,7 h${14 - w} a7,7 0 0 1 -7,-7 v${14 - h} a7,7 0 0 1 7,-7 Z`,
	disk: ({ x, y, w, h }) => `M${x},${y + 7} a${w / 2},7 0 0 1 ${w},0 v${h - 14} a${w / 2},7 0 0 1 ${-w},0 Z M${x},${y + 7} a${w / 2},7 0 0 0 ${w},0`,
	network: ({ x, y, w, h }) => `M${x + 14},${y} h${w - 28} l14,${h / 2} l-14,${h / 2} h${28 - w} l-14,${-h / 2} Z`,
	timer: ({ x, y, w, h }) => `M${x + h / 2},${y} h${w - h} a${h / 2},${h / 2} 0 0 1 0,${h} h${h - w} a${h / 2},${h / 2} 0 0 1 0,${-h} Z`,
	interrupt: ({ x, y, w, h }) => `M${x},${y + h / 2} l12,${-h / 2} h${w - 24} l12,${h / 2} l-12,${h / 2} h${24 - w} Z`,
	outside: box => shapes.thread(box)
};
/* A small picture of the kind at the left: what a shape alone might leave open. */
function kindMark(v, kind) {
	const x = v.x + 17, y = v.y + 17;
	if (kind === "timer") return draw("path", { class: "mark", d: `M${x},${y} m-6,0 a6,6 0 1 1 12,0 a6,6 0 1 1 -12,0 M${x},${y - 4} v4 l3,2` });
	if (kind === "network") return draw("path", { class: "mark", d: `M${x - 6},${y - 3} h12 m-4,-3 l4,3 l-4,3 M${x + 6},${y + 4} h-12 m4,-3 l-4,3 l4,3` });
	if (kind === "interrupt") return draw("path", { class: "mark", d: `M${x + 1},${y - 7} l-5,8 h6 l-3,7` });
	return null;
}
function subtitle(v) {
	if (!v.party) return "show all";
	const p = v.party, of = p.kind === "thread" ? stateParts(p)[0][1] : NaN;
	if (p.kind !== "thread") return kindWords[p.kind] === p.kind && p.name.startsWith(p.kind) ? "" : kindWords[p.kind];
	return (p.n_threads > 1 ? `×${count(p.n_threads)}, ` : "") + `runs ${percent(of)}`;
}
function stateBar(v) {
	let x = v.x + 8;
	const w = v.w - 16, y = v.y + v.h - 9;
	return [
		draw("rect", { class: "state", x, y, width: w, height: 4, rx: 1 }),
		stateParts(v.party).map(([name, part]) => {
			const width = Math.max(0, Math.min(1, part || 0)) * w, bar = draw("rect", { class: "s-" + name, x, y, width: width.toFixed(1), height: 4 });
			x += width;
			return bar;
		})
	];
}
function partyTip(v) {
	if (!v.party) return v.parties.slice(0, 12).map(p => cut(p.name, 60)).join("\n") + (v.parties.length > 12 ? "\n…" : "");
	const p = v.party, out = p.out.find(e => !e.is_idle);
	return [
		cut(p.name, 200), partyWhat(p) + (p.knot ? p.knot.isLimit ? ", in " + knotName(p.knot) : ", set aside" : ""),
		p.kind === "thread" ? stateParts(p).map(([name, part]) => `${name} ${percent(part)}`).join(", ") : "",
		out ? "waits most for " + cut(out.b.name, 100) + ": " + percent(out.share) : ""
	].filter(Boolean).join("\n");
}
function edgeTip(e) {
	if (!e.edge) return `${count(e.edges.length)} light edges, ${ofRecording(e.weight)} of the recording`;
	const x = e.edge;
	return [
		cut(edgeWords(x), 200),
		x.is_idle ? ofRecording(x.weight_ns) + " of the recording" :
			`${count(x.n_waits)} waits, ${ofRecording(x.own_ns)} of the recording` +
			(x.weight_ns > 1.01 * x.own_ns ? `, ${ofRecording(x.weight_ns)} with those who wait for it meanwhile` : ""),
		x.stacks.length ? cut(x.stacks[0].wait, 120) : "",
		hasGain(x) ? `half as long: ${gainText(x.halved)}; gone: ${gainText(x.gone)}` : ""
	].filter(Boolean).join("\n");
}
/* What acts on being pointed at, clicked, and named to those who hear the page. */
function acting(g, name, tipText, act) {
	g.addEventListener("mousemove", e => showTip(tipText, e.clientX, e.clientY));
	g.addEventListener("mouseleave", hideTip);
	g.addEventListener("click", act);
	for (const [k, v] of Object.entries({ role: "button", tabindex: -1, "aria-label": name })) g.setAttribute(k, v);
	return g;
}
function drawVertex(v) {
	const p = v.party, kind = p ? p.kind : "fold", shape = shapes[kind] || shapes.thread, mark = kindMark(v, kind);
	const left = v.x + (mark ? 28 : 9), room = v.x + v.w - left - (mark ? 12 : 7);
	const isOn = p && (view.party === p || (view.edge && (view.edge.a === p || view.edge.b === p)));
	const sub = subtitle(v), top = kind === "disk" ? 7 : 0;
	const g = draw("g", {
		class: `v k-${kind}` + (v.knot ? " limiting" : "") + (v.row === 4 ? " background" : "") + (isOn ? " sel" : "") +
			(p && view.hits.has(p) ? " hit" : ""),
		"data-key": v.key,
		"aria-pressed": String(!!(p && view.party === p))
	},
		p && p.n_threads > 1 || !p ? draw("path", { class: "behind", d: shapes.thread({ ...v, x: v.x + 4, y: v.y - 4 }) }) : null,
		draw("path", { class: "shape", d: shape(v) }), mark,
		draw("text", { class: "title", x: left, y: v.y + top + (sub ? 18 : 26) }, fitMiddle(vertexName(v), room, TITLE_FONT)),
		sub ? draw("text", { class: "soft sub", x: left, y: v.y + top + 33 }, fitText(sub, room, LABEL_FONT)) : null,
		p && p.kind === "thread" ? stateBar(v) : null);
	return acting(g, `${cut(vertexName(v), 120)}, ${p ? partyWhat(p) + ", " + sub : "folded"}`, partyTip(v),
		() => p ? selectParty(p) : showAll(true));
}
function drawEdge(e) {
	const { line, head } = edgePaths(e), isOn = e.edge && (e.edge === view.edge || e.a.party === view.party || e.b.party === view.party);
	const kind = e.isIdle ? " idle" : e.edge && e.edge.is_sleep ? " sleep" : "";
	const g = draw("g", {
		class: "e" + (e.knot ? " limiting" : "") + kind + (e.edge ? "" : " bundle") + (e.edge && e.edge === view.edge ? " sel" : isOn ? " near" : "") +
			(e.a.row === 4 || e.b.row === 4 ? " background" : ""),
		"data-key": e.key,
		"aria-pressed": String(!!e.edge && e.edge === view.edge)
	},
		draw("path", { class: "wide", d: line }), draw("path", { class: "line", d: line, "stroke-width": e.width.toFixed(2) }),
		draw("path", { class: "head", d: head }));
	return acting(g, cut(e.edge ? edgeWords(e.edge) + ", " + percent(e.edge.share) : edgeTip(e), 240), edgeTip(e),
		() => e.edge ? selectEdge(e.edge) : showAll(true));
}
/* Above all edges, so that none crosses a figure; a click is one on the edge. */
function drawLabel(e) {
	const g = draw("g", { class: "label" + (e.edge === view.edge ? " sel" : "") + (e.a.row === 4 || e.b.row === 4 ? " background" : ""), "data-of": e.key },
		draw("rect", { x: e.label.x, y: e.label.y, width: e.label.w, height: e.label.h, rx: 4 }),
		e.lines.map((s, i) => draw("text", {
			class: i ? "soft" : "share",
			x: e.label.x + e.label.w / 2,
			y: e.label.y + 13 + 14 * i,
			"text-anchor": "middle"
		}, s)));
	g.addEventListener("click", () => selectEdge(e.edge));
	g.addEventListener("mousemove", x => showTip(edgeTip(e), x.clientX, x.clientY));
	g.addEventListener("mouseleave", hideTip);
	return g;
}
function drawFrame(f) {
	return draw("g", { class: "frame", "data-knot": f.knot.id },
		draw("rect", { x: f.x, y: f.y, width: f.w, height: f.h, rx: 12 }),
		draw("text", { x: f.x + 14, y: f.y + 21 }, `${knotName(f.knot)} limits throughput`));
}
function drawRow(r, width) {
	return draw("g", { class: "row" + (r.index === 4 ? " background" : "") },
		r.index === 4 ? draw("rect", { x: 0.5, y: r.y - 8, width: width - 1, height: r.h + 20, rx: 12 }) : null,
		draw("text", { x: r.index === 4 ? 14 : 2, y: r.y + 10 }, r.name));
}
let picture = null; /* {model, laid, svg} */
function drawGraph(box, width) {
	const model = makeView(width), laid = layGraph(model, width);
	routeEdges(model);
	placeLabels(model, laid);
	const order = e => (e.edge && e.edge === view.edge ? 2e18 : e.knot ? 1e18 : 0) + e.weight;
	const svg = draw("svg", {
		id: "waitfor",
		viewBox: `0 0 ${width} ${Math.ceil(laid.height)}`,
		width,
		height: Math.ceil(laid.height),
		role: "group",
		"aria-label": "Wait-for graph: arrows lead from who waits to who is waited for"
	},
		laid.frames.map(drawFrame), laid.rows.map(r => drawRow(r, width)),
		[...model.edges].sort((a, b) => order(a) - order(b)).map(drawEdge),
		model.edges.filter(e => e.label).map(drawLabel), model.vertices.map(drawVertex));
	box.replaceChildren(svg);
	const first = svg.querySelector(".v.sel, .e.sel") || svg.querySelector(".v");
	if (first) first.setAttribute("tabindex", 0);
	picture = { model, laid, svg };
}
