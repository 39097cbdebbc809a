/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotated trees as flame graphs, the outermost functions on top: as wide as contexts were on the stack, own time
 * shaded at the right end. Of two runs both, on one scale, coloured by how much own time each context has more or less.
 */
const rowHeight = 20, frameMin = 1.5;
function draw(tag, attributes, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [k, v] of Object.entries(attributes || {})) {
		if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
		else if (v !== null && v !== undefined) e.setAttribute(k, v);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}
/* Frames of the context (null: of all) as {c, x, w, depth}, in shares of the width. */
function layFrames(zoom, side, scale) {
	const frames = [];
	const place = (list, x, depth) => {
		for (const c of list) {
			const w = timeOf(c, side) * scale;
			if (w <= 0) continue;
			frames.push({ c, x, w, depth });
			place(c.children, x, depth + 1);
			x += w;
		}
	};
	place(zoom ? [zoom] : roots, 0, 0);
	return frames;
}
const widest = side => (view.zoom ? timeOf(view.zoom, side) : roots.reduce((sum, c) => sum + timeOf(c, side), 0));
const largestDifference = isComparison ? Math.max(1e-9, ...contexts.map(c => Math.abs(difference(c)))) : 1;
function differenceFill(c) {
	const d = difference(c) / largestDifference, part = Math.round(100 * Math.min(1, Math.sqrt(Math.abs(d))) * 0.85);
	return `color-mix(in srgb, var(${d > 0 ? "--pos" : "--neg"}) ${part}%, var(--k-body))`;
}
function frameOf(f, side, width) {
	const c = f.c, x = f.x * width, w = f.w * width, total = timeOf(c, side);
	const own = total > 0 && c[side] ? w * Math.min(1, perUnit(side, c[side].own_ns) / total) : 0;
	const name = cut(c.f.name, Math.floor((w - 8) / 6.6));
	const g = draw("g", {
		"data-context": c.id, role: "button", tabindex: -1, "aria-label": `${fullName(c)}. ${figuresText(c, side)}`,
		class: [c === view.selected ? "sel" : "", view.hits.has(c) ? "hit" : ""].join(" ").trim(),
		onclick: () => { select(c); },
		ondblclick: () => zoomTo(c),
		onmousemove: e => showTip(`${fullName(c)}\n${figuresText(c, side)}`, e.clientX, e.clientY), onmouseleave: hideTip
	}, draw("rect", { class: "box l-" + c.f.layer, x: x.toFixed(1), y: f.depth * rowHeight, width: Math.max(frameMin, w).toFixed(1), height: rowHeight - 1, style: isComparison ? `fill:${differenceFill(c)}` : null }),
	own >= 2 ? draw("rect", { class: "own", x: (x + w - own).toFixed(1), y: f.depth * rowHeight, width: own.toFixed(1), height: rowHeight - 1 }) : null,
	w > 34 ? draw("text", { x: (x + 4).toFixed(1), y: f.depth * rowHeight + 14 }, name) : null);
	return g;
}
const flamePlaces = {};
function drawFlame(side) {
	const place = flamePlaces[side], width = Math.max(280, Math.floor(place.clientWidth) || 900);
	const scale = 1 / Math.max(1e-12, ...sides.map(widest)), frames = layFrames(view.zoom, side, scale).filter(f => f.w * width >= frameMin / 2);
	const height = rowHeight * (1 + Math.max(0, ...frames.map(f => f.depth)));
	place.replaceChildren(draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Functions by time on the stack" },
		...frames.map(f => frameOf(f, side, width))));
	const first = place.querySelector("g.sel") || place.querySelector("g");
	if (first) first.setAttribute("tabindex", 0);
	if (!frames.length) place.replaceChildren(note("Nothing of it in this run."));
}
let crumbs = null;
function drawFlames() {
	for (const side of sides) drawFlame(side);
	crumbs.replaceChildren(el("button", { type: "button", onclick: () => zoomTo(null), disabled: !view.zoom }, "all"),
		...(view.zoom ? pathOf(view.zoom).map(c => [" › ", el("button", { type: "button", onclick: () => zoomTo(c) }, cut(c.f.name, 40))]).flat() : []));
}
function zoomTo(c) {
	view.zoom = c;
	drawFlames();
}
/* Arrows: to the caller, to the widest callee, to the siblings. */
function flameKey(e) {
	const g = e.target.closest("[data-context]"), c = g && contexts[+g.dataset.context];
	if (!c || e.ctrlKey || e.metaKey || e.altKey) return;
	const beside = (c.up ? c.up.children : roots), i = beside.indexOf(c);
	const next = { ArrowUp: c.up, ArrowDown: c.children[0], ArrowLeft: beside[i - 1], ArrowRight: beside[i + 1] }[e.key];
	if (e.key === "Enter" || e.key === " ") select(c);
	else if (e.key === "z") zoomTo(view.zoom === c ? null : c);
	else if (next) {
		const to = e.currentTarget.querySelector(`[data-context="${next.id}"]`);
		if (to) { g.setAttribute("tabindex", -1); to.setAttribute("tabindex", 0); to.focus(); }
	} else return;
	e.preventDefault();
}
function flame() {
	const box = byId("flame");
	if (!roots.length) { box.append(note("Nothing was seen.")); return; }
	crumbs = el("div.crumbs.bar-row");
	for (const side of sides) flamePlaces[side] = el("div.frames", { onkeydown: flameKey, "data-side": side });
	box.append(el("div.card", null, crumbs,
		el(isComparison ? "div.flames.both" : "div.flames", null, sides.map(side => el("div", null,
			isComparison ? el("h3", null, side === "base" ? `Base: ${R.base.run}` : `New: ${R.new.run}`) : null, flamePlaces[side]))),
		el("ul.legend", { "aria-label": "Signs" }, isComparison ?
			[el("li", null, el("i", { style: "background:var(--pos)" }), "more own time than in the base run"), el("li", null, el("i", { style: "background:var(--neg)" }), "less")] :
			Object.entries(layers).map(([layer, text]) => el("li", null, el("i.l-" + layer), text)),
		el("li", null, el("i.own-sign"), "own time, at the right end"), el("li", null, `widths: time on the stack ${unitText}, at least`)),
		el("p.small.soft", null, "Click selects a function in its context, a double click zooms; so do Enter and z on the keyboard, arrows move.")));
	drawFlames();
	listeners.push(drawFlames);
	addEventListener("resize", drawFlames);
}
