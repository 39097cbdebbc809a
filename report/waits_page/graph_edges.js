/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The course of edges: curves from border to border, with an arrow head at what is waited for, and a place for a label.
 * Points are [x, y]. */
const centre = v => [v.x + v.w / 2, v.y + v.h / 2];
/* Where the line from the centre of a box to `to` leaves it. */
function border(v, to, beyond) {
	const [cx, cy] = centre(v), dx = to[0] - cx, dy = to[1] - cy;
	const t = Math.min(dx ? v.w / 2 / Math.abs(dx) : Infinity, dy ? v.h / 2 / Math.abs(dy) : Infinity);
	const length = Math.hypot(dx, dy) || 1, k = Math.min(1, t) + beyond / length;
	return [cx + dx * k, cy + dy * k];
}
function bezier(p, t) {
	const u = 1 - t, w = p.length === 3 ? [u * u, 2 * u * t, t * t] : [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
	return [0, 1].map(i => p.reduce((sum, q, k) => sum + w[k] * q[i], 0));
}
/* Between members of a knot, or of a row: it bows to its left, so that both directions are seen. */
function bowed(e) {
	const a = centre(e.a), b = centre(e.b), dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1;
	const bow = Math.min(72, Math.max(40, 0.2 * length));
	const control = [(a[0] + b[0]) / 2 + dy / length * bow, (a[1] + b[1]) / 2 - dx / length * bow];
	return [border(e.a, control, 1), control, border(e.b, control, 3)];
}
/* In a row there is nothing above that it would not cross: it runs beneath. */
function beneath(e) {
	const foot = Math.max(e.a.y, e.b.y) + BOX_H, x = e.a.x < e.b.x ? [0.7, 0.3] : [0.3, 0.7];
	const from = [e.a.x + e.a.w * x[0], e.a.y + e.a.h + 1], to = [e.b.x + e.b.w * x[1], e.b.y + e.b.h + 3];
	return [from, [from[0], foot + BENEATH], [to[0], foot + BENEATH], to];
}
function loop(e) {
	const v = e.a, x = v.x + v.w, y = v.y;
	return [[x - 44, y - 1], [x - 44, y - 48], [x + 62, y - 36], [x + 3, y + 14]];
}
/* From one row to another: ports along the sides, in the order of where the edges go. */
function straight(e) {
	const up = e.b.y < e.a.y, from = [e.from_x, up ? e.a.y - 1 : e.a.y + e.a.h + 1];
	const to = [e.to_x, up ? e.b.y + e.b.h + 3 : e.b.y - 3], d = (to[1] - from[1]) * 0.45;
	return [from, [from[0], from[1] + d], [to[0], to[1] - d], to];
}
const isSameLevel = e => (e.a.knot && e.a.knot === e.b.knot) || Math.abs(e.a.y - e.b.y) < BOX_H;
function setPorts(list) {
	const sides = new Map();
	for (const e of list) {
		const up = e.b.y < e.a.y;
		for (const [v, side, key, other] of [[e.a, up ? "t" : "b", "from_x", e.b], [e.b, up ? "b" : "t", "to_x", e.a]]) {
			const id = v.key + side;
			sides.set(id, [...(sides.get(id) || []), { e, key, v, x: middle(other) }]);
		}
	}
	for (const ports of sides.values()) {
		ports.sort((p, q) => p.x - q.x);
		ports.forEach((p, i) => { p.e[p.key] = p.v.x + p.v.w * (0.14 + 0.72 * (i + 0.5) / ports.length); });
	}
}
function routeEdges(model) {
	setPorts(model.edges.filter(e => e.a !== e.b && !isSameLevel(e)));
	for (const e of model.edges) {
		e.points = e.a === e.b ? loop(e) : !isSameLevel(e) ? straight(e) : e.a.knot && e.a.knot === e.b.knot ? bowed(e) : beneath(e);
	}
}
const point = p => p.map(x => x.toFixed(1)).join(",");
/* The line ends where its arrow head begins. */
function edgePaths(e) {
	const p = e.points, tip_ = p[p.length - 1], before = p[p.length - 2];
	const dx = tip_[0] - before[0], dy = tip_[1] - before[1], length = Math.hypot(dx, dy) || 1;
	const size = 7 + 1.1 * e.width, ux = dx / length, uy = dy / length, base = [tip_[0] - ux * size, tip_[1] - uy * size];
	const half = 3.2 + 0.75 * e.width, line = [...p.slice(0, -1), base];
	return {
		line: `M${point(line[0])} ${line.length === 3 ? "Q" : "C"}${line.slice(1).map(point).join(" ")}`,
		head: `M${point(tip_)} L${point([base[0] - uy * half, base[1] + ux * half])} L${
			point([base[0] + uy * half, base[1] - ux * half])} Z`
	};
}
const overlaps = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
/* Centres to try, the best first: on the edge, then beside it. */
function labelPlaces(e, w, h) {
	if (e.a === e.b) return [[e.a.x + e.a.w + 12 + w / 2, e.a.y + 24 + h / 2], [e.a.x + e.a.w / 2 - 30, e.a.y - 8 - h / 2]];
	const on = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74].map(t => bezier(e.points, t));
	return [...on, ...[-18, 18, -30, 30].flatMap(dy => on.slice(0, 3).map(([x, y]) => [x, y + dy]))];
}
/* Labels where there is room for them: of knots always, of others only then. */
function placeLabels(model, laid) {
	const taken = model.vertices.map(v => ({ x: v.x - 2, y: v.y - 2, w: v.w + 4, h: v.h + 4 }));
	for (const f of laid.frames) taken.push({ x: f.x, y: f.y, w: titleWidth(f.knot), h: FRAME_TITLE - 4 });
	const labelled = model.edges.filter(e => e.edge && (e.knot || e.edge.share >= 0.1) && !e.isIdle);
	for (const e of labelled.sort((a, b) => !!b.knot - !!a.knot || b.weight - a.weight)) {
		const place = e.knot ? innermost(e.edge) : "";
		e.lines = [ownText(e.edge), ...(place ? [fitText(place, 132, LABEL_FONT)] : [])];
		const w = 10 + Math.max(...e.lines.map(s => textWidth(s, LABEL_FONT))), h = 4 + 14 * e.lines.length;
		e.label = labelPlaces(e, w, h).map(([x, y]) => ({ x: Math.max(2, Math.min(laid.width - w - 2, x - w / 2)), y: y - h / 2, w, h }))
			.find(box => !taken.some(b => overlaps(b, box)));
		if (e.label) taken.push(e.label);
	}
}
