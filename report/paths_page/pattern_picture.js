/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns as pictures: from left to right who calls whom, in the order of the calls from top to bottom. */
const boxWidth = 190, boxHeight = 34, gapX = 46, gapY = 8;
/* Places: a caller beside its first call. Returns the next free row. */
function place(node, depth, row, out) {
	const own = { node, x: depth * (boxWidth + gapX), y: row * (boxHeight + gapY), to: [] };
	out.push(own);
	let next = row;
	for (const c of node.calls) {
		own.to.push(out.length);
		next = place(c, depth + 1, next, out);
	}
	return Math.max(row + 1, next);
}
function drawPattern(box, node, label) {
	const boxes = [], rows = place(node, 0, 0, boxes), width = Math.max(...boxes.map(b => b.x)) + boxWidth + 2, height = rows * (boxHeight + gapY);
	const svg = picture(box, width + 2, height + 2, label).attr("width", width + 2);
	for (const b of boxes)
		for (const i of b.to) {
			const c = boxes[i], x = b.x + boxWidth, y = b.y + boxHeight / 2, end = c.y + boxHeight / 2;
			svg.append("path").attr("d", `M${x},${y}C${x + gapX / 2},${y} ${c.x - gapX / 2},${end} ${c.x},${end}`);
		}
	for (const b of boxes) {
		const g = svg.append("g").attr("class", `box ${colour(b.node.tier)}${isHit(b.node.tier) ? " hit" : ""}`).attr("transform", `translate(${b.x + 1},${b.y + 1})`);
		g.append("rect").attr("class", "visit").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 5);
		g.append("text").attr("class", "on-tier").attr("x", 8).attr("y", 14).text(cut(b.node.tier, 22) + (b.node.count > 1 ? " × " + b.node.count : ""));
		g.append("text").attr("class", "on-tier").attr("x", 8).attr("y", 28).text(duration(b.node.total_ns / b.node.count) + (b.node.count > 1 ? " each" : ""));
		g.append("title").text(b.node.tier);
	}
}
function drawPatterns(box) {
	R.patterns.slice(0, 12).forEach((p, i) => {
		const example = requests.find(q => q.path === p.path), tree = example && treeOf(example);
		const card = el("div.card.pattern", { "data-pattern": i }, el("h3", null, `${percent(p.latency.n / R.latency.n)} of the requests: p50 ${duration(p.latency.p50_ns)}, p99 ${duration(p.latency.p99_ns)}`));
		box.append(card);
		if (tree) {
			drawPattern(card, fold(tree), p.path);
			card.append(el("p.small.soft", null, "Times are of one request of median latency. ", el("button", { type: "button", onclick: () => showRequest(example, true) }, "Show it in time")));
		} else
			card.append(el("p.mono", null, p.path));
	});
	if (R.n_patterns_all > 12) box.append(note(`${count(R.n_patterns_all - 12)} more paths: vprof report paths --top ${R.n_patterns_all}`));
}
function patterns() {
	const box = byId("patterns"), list = el("div", { id: "pictures" });
	box.append(list);
	drawPatterns(list);
	if (!R.patterns.length) box.append(note("No request was found of which all is known."));
}
