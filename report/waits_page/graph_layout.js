/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where everything stands: knots first, each in a frame; below them, row by row, who waits for them; at the bottom what
 * is set aside. Coordinates are pixels of a picture as wide as its place, so that its text keeps its size. */
const BOX_H = 50, BENEATH = 30, LOOP_LABEL = 150, FRAME_PAD = 16, FRAME_TITLE = 30, ROW_TITLE = 24;
function sizes(width) {
	const narrow = width < 640;
	return {
		width,
		box: narrow ? 124 : 156,
		across: narrow ? 66 : 128, /* between members of a knot: an edge's label stands there */
		down: 78,
		gap: narrow ? 12 : 26,
		row: 92
	};
}
/* Members so that heavy edges lie between neighbours: from each to the one it waits for most. */
function ringOrder(vertices, drawn) {
	const left = new Set(vertices), list = [], heaviest = v => Math.max(0, ...drawn.filter(e => e.a === v).map(e => e.weight));
	let at = [...left].sort((a, b) => heaviest(b) - heaviest(a))[0];
	while (at) {
		left.delete(at);
		list.push(at);
		const next = drawn.filter(e => e.a === at && left.has(e.b)).sort((a, b) => b.weight - a.weight)[0];
		at = next ? next.b : [...left].sort((a, b) => heaviest(b) - heaviest(a))[0];
	}
	return list;
}
/* Places of a ring along the border of a grid, clockwise: [column, row]. */
function ringPlaces(n, columns) {
	const list = [], rows = columns === 1 ? n : n <= columns ? 1 : Math.max(2, Math.ceil((n + 4) / 2) - columns);
	for (let k = 0; k < columns; k++) list.push([k, 0]);
	for (let i = 1; i < rows; i++) list.push([columns - 1, i]);
	if (rows > 1 && columns > 1) {
		for (let k = columns - 2; k >= 0; k--) list.push([k, rows - 1]);
		for (let i = rows - 2; i > 0; i--) list.push([0, i]);
	}
	return { list, rows };
}
/* As a ring, so that edges between its members cross an empty middle; in two rows where these have room. Returns the
 * frame's size. */
function placeKnot(members, size) {
	const n = members.length, above = 52, below = 36; /* for edges that bow out, and their labels */
	const fits = (box, across) => Math.max(1, Math.floor((size.width - 2 * FRAME_PAD + across) / (box + across)));
	const wantedColumns = n === 2 ? 2 : Math.ceil(n / 2);
	const [box, across] = [[size.box, size.across], [140, 88], [128, 58]].find(([b, x]) => fits(b, x) >= wantedColumns) ||
		[Math.min(size.box, 140), Math.min(size.across, 88)];
	const columns = Math.min(fits(box, across), wantedColumns), { list, rows } = ringPlaces(n, columns);
	members.forEach((v, i) => {
		const [k, row] = list[i];
		Object.assign(v, {
			x: FRAME_PAD + k * (box + across),
			y: FRAME_TITLE + above + row * (BOX_H + size.down),
			w: box,
			h: BOX_H
		});
	});
	return {
		w: 2 * FRAME_PAD + columns * (box + across) - across + (n === 1 ? LOOP_LABEL : 0),
		h: FRAME_TITLE + above + below + rows * BOX_H + (rows - 1) * size.down
	};
}
const titleWidth = k => 24 + 7.2 * (`${knotName(k)} limits throughput`).length;
/* Frames beside one another as long as there is room. Returns where they end. */
function placeFrames(model, size, frames) {
	let line = [], used = 0, y = 4;
	const flush = () => {
		let x = (size.width - used) / 2;
		const h = Math.max(0, ...line.map(f => f.h));
		for (const f of line) {
			Object.assign(f, { x, y });
			for (const v of f.members) { v.x += x; v.y += y; }
			x += f.w + size.gap;
		}
		if (line.length) y += h + size.gap;
		line = [];
		used = 0;
	};
	for (const k of limits) {
		const members = ringOrder(model.vertices.filter(v => v.knot === k), model.edges.filter(e => e.knot === k));
		if (!members.length) continue;
		const frame = { knot: k, members, ...placeKnot(members, size) }, least = Math.min(size.width, titleWidth(k));
		if (frame.w < least) {
			for (const v of members) v.x += (least - frame.w) / 2;
			frame.w = least;
		}
		if (line.length && used + size.gap + frame.w > size.width) flush();
		used += (line.length ? size.gap : 0) + frame.w;
		line.push(frame);
		frames.push(frame);
	}
	flush();
	return frames.length ? y - size.gap : 0;
}
const middle = v => v.x + v.w / 2;
/* Mean place of what a vertex has edges with and that stands already: few edges cross then. */
function pull(v, model, placed) {
	const near = model.edges.filter(e => e.a !== e.b && (e.a === v ? placed.has(e.b) : e.b === v && placed.has(e.a)));
	const sum = sumOf(near, e => e.weight);
	return sum ? sumOf(near, e => e.weight * middle(e.a === v ? e.b : e.a)) / sum : Infinity;
}
const perLine = size => Math.max(1, Math.floor((size.width + size.gap) / (size.box + size.gap)));
/* Lines of a row are staggered: edges of one pass between the boxes of the other. */
function placeRow(row, y, model, size, placed) {
	const isOne = row.length <= perLine(size), most = isOne ? perLine(size) : Math.max(1, perLine(size) - 1);
	const lines = Math.ceil(row.length / most), inLine = Math.ceil(row.length / lines);
	const stagger = isOne || most < 2 ? 0 : (size.box + size.gap) / 4;
	for (const v of row) v.pull = pull(v, model, placed);
	for (let i = 0; i < lines; i++) {
		const line = row.slice(i * inLine, (i + 1) * inLine).sort((a, b) => a.pull - b.pull || a.key.localeCompare(b.key));
		const w = line.length * (size.box + size.gap) - size.gap;
		line.forEach((v, k) => Object.assign(v, {
			x: (size.width - w) / 2 + k * (size.box + size.gap) + (i % 2 ? stagger : -stagger),
			y: y + i * (BOX_H + 40),
			w: size.box,
			h: BOX_H
		}));
	}
	for (const v of row) placed.add(v);
	return y + lines * (BOX_H + 40) - 40;
}
/* Places the vertices of the model; {frames, rows, width, height}. */
function layGraph(model, width) {
	const size = sizes(width), frames = [], rows = [], placed = new Set();
	let y = placeFrames(model, size, frames);
	for (const f of frames) for (const v of f.members) placed.add(v);
	for (let i = 1; i <= 4; i++) {
		const row = model.vertices.filter(v => v.row === i && !placed.has(v))
			.sort((a, b) => !a.party - !b.party || b.parties[0].weight - a.parties[0].weight);
		if (!row.length) continue;
		const top = y ? y + (i === 4 ? 54 : size.row - ROW_TITLE) : 4;
		const has = model.edges.some(e => e.a !== e.b && e.a.row === i && e.b.row === i && row.includes(e.a) && row.includes(e.b));
		const foot = placeRow(row, top + ROW_TITLE, model, size, placed) + (has ? BENEATH * 0.8 : 0);
		rows.push({ index: i, y: top, h: foot - top, name: rowNames[i] });
		y = foot;
	}
	return { frames, rows, width, height: y + 16 };
}
