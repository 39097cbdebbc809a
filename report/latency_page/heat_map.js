/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's heat map: a row for each path, a column for each function on it, the colour (by log 10) what the function
 * costs there by itself; the costliest function of a path is marked 0, the others by their distance from it. */
const heatRows = 30, cellWidth = 24, cellHeight = 22;
function heatColour(ns, most) {
	if (!(ns > 0)) return "var(--k-body)";
	const part = Math.max(0, Math.min(1, 1 + Math.log10(ns / most) / 4)); /* four decades */
	return `color-mix(in srgb, var(--pos) ${Math.round(100 * part)}%, var(--k-body))`;
}
function heatCell(p, s, i, row, most, costliest) {
	const text = `${fullName(s.c)}\n${isComparison ? "own time more" : "own time"} ${unitText}: ${duration(s.cost_ns)}; rank ${s.rank} of ${p.steps.length} on this path`;
	return [draw("rect", {
		x: 40 + i * cellWidth, y: row * cellHeight, width: cellWidth, height: cellHeight, style: `fill:${heatColour(s.cost_ns, most)}`,
		"data-cell": `${p.id}-${i}`, class: s.c === view.selected ? "sel" : null, onclick: () => select(s.c),
		onmousemove: e => showTip(text, e.clientX, e.clientY), onmouseleave: hideTip
	}), draw("text", { x: 40 + (i + 0.5) * cellWidth, y: row * cellHeight + 15, "text-anchor": "middle" }, String(Math.abs(i - costliest)))];
}
function heatmap() {
	const box = byId("heatmap"), list = paths.slice(0, heatRows);
	if (!list.length) { box.append(note("There are no paths to show.")); return; }
	const most = Math.max(1e-9, ...list.flatMap(p => p.steps.map(s => s.cost_ns))), columns = Math.max(...list.map(p => p.steps.length));
	const place = el("div.heatmap.scroll");
	const fill = () => place.replaceChildren(draw("svg", {
		width: 50 + columns * cellWidth, height: list.length * cellHeight, role: "img",
		"aria-label": "Paths, the costliest first, and what each function on them costs by itself; the same is in the list of paths"
	}, ...list.flatMap((p, row) => [draw("text", { x: 34, y: row * cellHeight + 15, "text-anchor": "end" }, String(p.id + 1)),
		...p.steps.flatMap((s, i) => heatCell(p, s, i, row, most, p.steps.findIndex(x => x.rank === 1)))])));
	fill();
	listeners.push(fill);
	box.append(el("div.card", null, place, el("p.small.soft", null,
		"A row is a path, the costliest on top, its outermost function at the left. Colours: what a function costs there by itself, from nothing to the most, in decades. " +
		"0 is the costliest function of the path, other numbers are calls between it and them.")));
}
