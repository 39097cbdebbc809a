/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selection, its place in the address (#e=EDGE, #p=PARTY, with &all when nothing is folded), search, keys, paper; then
 * everything is drawn. */
let place = null, drawnWidth = 0;
function redraw(width) {
	const focused = root.activeElement && root.activeElement.getAttribute("data-key");
	drawnWidth = width || Math.max(300, Math.floor(place.clientWidth) || 900);
	drawGraph(place, drawnWidth);
	const again = focused && place.querySelector(`[data-key="${focused}"]`);
	if (again) focusOn(again);
	byId("fold").setAttribute("aria-pressed", String(view.all));
}
function addressOf() {
	const what = view.edge ? "e=" + view.edge.id : view.party ? "p=" + view.party.id : "";
	return [what, view.all ? "all" : ""].filter(Boolean).join("&");
}
function readAddress() {
	const parts = new Map(address.get().split("&").map(s => s.split("=")));
	const at = (list, key) => /^\d{1,9}$/.test(parts.get(key) || "") ? list[+parts.get(key)] || null : null;
	view.edge = at(edges, "e");
	view.party = view.edge ? null : at(parties, "p");
	view.all = parts.has("all");
}
function show() {
	address.set(addressOf());
	redraw();
	drawDetails();
}
function selectEdge(e, scroll) {
	Object.assign(view, { edge: e, party: null });
	show();
	if (scroll) byId("graph").scrollIntoView({ block: "start" });
}
function selectParty(p) { Object.assign(view, { edge: null, party: p }); show(); }
function showAll(all) { view.all = all; show(); }
function focusOn(g) {
	for (const x of place.querySelectorAll("[tabindex='0']")) x.setAttribute("tabindex", -1);
	g.setAttribute("tabindex", 0);
	g.focus();
}
/* The nearest vertex in a direction: distance along it, and twice what lies across. */
function neighbour(v, key) {
	const [x, y] = centre(v), sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1, isAcross = key === "ArrowLeft" || key === "ArrowRight";
	let best = null, least = Infinity;
	for (const u of picture.model.vertices) {
		const [ux, uy] = centre(u), along = sign * (isAcross ? ux - x : uy - y), beside = Math.abs(isAcross ? uy - y : ux - x);
		if (along > 1 && along + 2 * beside < least) { least = along + 2 * beside; best = u; }
	}
	return best;
}
const elementOf = key => place.querySelector(`[data-key="${key}"]`);
/* Edges of a vertex, one after another; from an edge on to the next of the same vertex. */
let around = null;
function nextEdge(key, step) {
	const edge = picture.model.edges.find(e => e.key === key), vertex = picture.model.vertices.find(v => v.key === key);
	around = vertex || (edge && (around === edge.a || around === edge.b) ? around : edge && edge.a);
	const list = picture.model.edges.filter(e => e.a === around || e.b === around)
		.sort((a, b) => !a.edge - !b.edge || b.weight - a.weight);
	if (!list.length) return;
	const i = edge ? list.indexOf(edge) + step : step > 0 ? 0 : list.length - 1;
	focusOn(elementOf(list[(i + list.length) % list.length].key));
}
function graphKey(e) {
	const g = e.target.closest("[data-key]"), key = g && g.getAttribute("data-key");
	if (!key || e.ctrlKey || e.metaKey || e.altKey) return;
	const vertex = picture.model.vertices.find(v => v.key === key);
	if (e.key === "Enter" || e.key === " ")
		g.dispatchEvent(new MouseEvent("click"));
	else if (e.key.startsWith("Arrow")) {
		const edge = picture.model.edges.find(x => x.key === key), from = vertex || (edge && (e.key === "ArrowUp" || e.key === "ArrowLeft" ? edge.a : edge.b));
		const to = vertex ? neighbour(vertex, e.key) : from;
		if (to) focusOn(elementOf(to.key));
	} else if (e.key === "e" || e.key === "E")
		nextEdge(key, e.key === "e" ? 1 : -1);
	else
		return;
	e.preventDefault();
}
/* Next and previous of all edges that the picture shows, by weight. */
function stepEdge(step) {
	const list = picture.model.edges.filter(e => e.edge && !e.isIdle).sort((a, b) => !!b.knot - !!a.knot || b.weight - a.weight);
	const shown = view.edge || (view.party ? null : firstEdge()), i = list.findIndex(e => e.edge === shown);
	if (list.length) selectEdge(list[Math.max(0, Math.min(list.length - 1, i + step))].edge);
}
function keys() {
	const rows = [
		["/", "find a thread; Enter selects the first"], ["n  p", "next and previous wait, by weight"],
		["arrows", "in the graph: the vertex in that direction"], ["e  E", "in the graph: edges of the vertex, one by one"],
		["Enter", "in the graph: show why"], ["f", "fold light vertices, or show all"], ["Esc", "nothing selected"], ["?", "this list"]
	];
	onKeys(rows, key => {
		if (key === "n" || key === "p") stepEdge(key === "n" ? 1 : -1);
		else if (key === "f") showAll(!view.all);
		else if (key === "Escape") { Object.assign(view, { edge: null, party: null }); show(); }
	});
}
function search() {
	const input = byId("search");
	const find = () => {
		const text = input.value.trim().toLowerCase();
		return text ? parties.filter(p => p.name.toLowerCase().includes(text)).sort((a, b) => b.weight - a.weight).slice(0, 40) : [];
	};
	input.addEventListener("input", () => { view.hits = new Set(find()); redraw(); });
	input.addEventListener("keydown", e => {
		if (e.key === "Enter" && find().length) selectParty(find()[0]);
		if (e.key === "Escape") { input.value = ""; view.hits = new Set(); redraw(); }
	});
}
const legendItems = [
	["thread", "thread"], ["disk", "disk"], ["network", "network"], ["timer", "timer"], ["interrupt", "interrupt"], ["outside", "outside the recording"]
];
function legend() {
	const used = new Set(parties.map(p => p.kind));
	return el("ul.legend", { "aria-label": "Signs" }, legendItems.filter(([kind]) => used.has(kind)).map(([kind, name]) => el("li", null,
		draw("svg", { width: 30, height: 18, viewBox: "-1 -1 32 20", "aria-hidden": "true", class: "sign" },
			draw("g", { class: "v k-" + kind }, draw("path", { class: "shape", d: shapes[kind]({ x: 0, y: 0, w: 30, h: 18 }) }))),
		name)),
	[["running", "running"], ["runnable", "runnable, without a CPU"], ["blocked", "blocked"]].map(([kind, name]) =>
		el("li", null, el("i.s-" + kind, { "aria-hidden": "true" }), name)),
	el("li", null, "an arrow leads from who waits to who is waited for, as wide as the waits are long"));
}
function graph() {
	const box = byId("graph");
	place = el("div.waitfor", { onkeydown: graphKey });
	box.append(el("div.bar-row", null, el("button", { id: "fold", type: "button", onclick: () => showAll(!view.all) }, `Show all ${count(parties.length)}`),
		el("span.small.soft", null, "Click on an edge or a vertex to see why.")),
	el("div.stage", null, el("div.card.drawing", null, place, legend()),
		el("aside.card", { id: "why", "aria-live": "polite", "aria-label": "Why" })));
	readAddress();
	redraw();
	drawDetails();
	byId("fold").hidden = parties.length <= picture.model.vertices.length && !view.all;
	address.listen(() => { readAddress(); redraw(); drawDetails(); });
	addEventListener("resize", () => { if (Math.abs(place.clientWidth - drawnWidth) > 8) redraw(); });
	addEventListener("beforeprint", () => redraw(680));
	addEventListener("afterprint", () => redraw());
}
drawParts([theme, answer, graph, knotCards, allWaits, trust, search, keys]);
