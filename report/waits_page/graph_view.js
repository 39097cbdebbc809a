/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the graph is shown: light vertices of a row are folded into one, light edges are left out, unless the reader
 * asks for them. A vertex of the picture is {key, parties, party} (party null: folded ones), an edge of it
 * {key, a, b, weight, edge} (edge null: several to or from a folded vertex). */
const view = { all: false, party: null, edge: null, hits: new Set() };
const IN_KNOTS = 16, LINES = [0, 2, 1, 1, 2], EDGES_EACH = 2, LIGHT = 0.01, EDGES_MAX = 160;
/* Rows: the knots' members, those that wait for them, the rest, what is set aside. */
function rowOf(p) {
	if (isBackground(p)) return 4;
	return p.distance === Infinity ? 3 : Math.min(2, p.distance);
}
const rowNames = ["", "wait for it", "wait for those", "others", "set aside: in the background"];
/* Parties that must be seen: what is selected, and what it has to do with. */
function wanted() {
	const list = new Set();
	if (view.party) {
		list.add(view.party);
		for (const e of [...view.party.out.slice(0, 6), ...view.party.in.slice(0, 6)]) list.add(e.a).add(e.b);
	}
	if (view.edge) list.add(view.edge.a).add(view.edge.b);
	for (const p of view.hits) list.add(p);
	return list;
}
/* Of a row as many as have room in a line or two, of the knots so many that a ring is still seen as one. */
function choose(size) {
	const must = wanted();
	const order = [...parties].sort((a, b) =>
		must.has(b) - must.has(a) || rowOf(a) - rowOf(b) || b.weight - a.weight || a.id - b.id);
	const line = perLine(size), room = LINES.map((lines, row) => row ? lines * line - (lines > 1 ? 3 : 1) : IN_KNOTS);
	const used = [0, 0, 0, 0, 0], shown = new Set();
	for (const p of order) {
		const row = rowOf(p), isLight = p.weight < LIGHT * recorded && row > 0;
		if (!must.has(p) && (used[row] >= Math.max(1, room[row]) || isLight)) continue;
		used[row]++;
		shown.add(p);
	}
	return shown;
}
/* One that is alone is shown: a fold of one saves nothing. */
function foldRest(shown) {
	const rest = new Map();
	for (const p of parties) {
		if (shown.has(p)) continue;
		const key = isLimiting(p) ? "k" + p.knot.id : "r" + rowOf(p);
		rest.set(key, [...(rest.get(key) || []), p]);
	}
	const list = [];
	for (const p of parties)
		if (shown.has(p) || rest.get(isLimiting(p) ? "k" + p.knot.id : "r" + rowOf(p)).length === 1)
			list.push({ key: "p" + p.id, party: p, parties: [p], row: rowOf(p), knot: isLimiting(p) ? p.knot : null });
	for (const [key, of] of rest)
		if (of.length > 1)
			list.push({
				key: "f" + key,
				party: null,
				parties: of,
				row: rowOf(of[0]),
				knot: isLimiting(of[0]) ? of[0].knot : null
			});
	return list;
}
function shownEdges(at) {
	const bundles = new Map(), list = [];
	const isSelected = e => e === view.edge || e.a === view.party || e.b === view.party;
	const isHeavy = e => e.share >= LIGHT && e.a.out.indexOf(e) < EDGES_EACH || e === e.a.out.find(x => !x.is_idle);
	const kept = edges.filter(e => e.knot || isSelected(e) || (!e.is_idle && e.weight_ns > 0 && isHeavy(e)))
		.sort((a, b) => !!b.knot - !!a.knot || isSelected(b) - isSelected(a) || b.weight_ns - a.weight_ns || a.id - b.id)
		.slice(0, view.all ? 4 * EDGES_MAX : EDGES_MAX);
	for (const e of kept) {
		const a = at.get(e.a), b = at.get(e.b);
		if (a.party && b.party) { list.push({ key: "e" + e.id, a, b, edge: e, weight: e.weight_ns, edges: [e] }); continue; }
		if (a === b) continue;
		const key = a.key + ">" + b.key, x = bundles.get(key) || { key, a, b, edge: null, weight: 0, edges: [] };
		x.weight += e.weight_ns;
		x.edges.push(e);
		bundles.set(key, x);
	}
	const some = [...bundles.values()].sort((a, b) => b.weight - a.weight);
	return [...list, ...some.filter(x => some.filter(y => y.a === x.a).indexOf(x) < EDGES_EACH)];
}
/* {vertices, edges} for a picture `width` pixels wide. */
function makeView(width) {
	const shown = view.all ? new Set(parties) : choose(sizes(width));
	const vertices = foldRest(shown), at = new Map();
	for (const v of vertices) for (const p of v.parties) at.set(p, v);
	const drawn = shownEdges(at);
	const heaviest = Math.max(1, ...drawn.map(e => e.edge ? e.weight : 0));
	for (const e of drawn) {
		e.width = e.edge ? 1 + 8 * e.weight / heaviest : 2;
		e.knot = e.edge ? e.edge.knot : e.edges.every(x => x.knot) ? e.edges[0].knot : null;
		e.isIdle = e.edges.every(x => x.is_idle);
	}
	return { vertices, edges: drawn };
}
const vertexName = v => v.party ? v.party.name : `${count(v.parties.length)} lighter ones`;
