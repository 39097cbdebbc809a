/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search, keyboard; then everything is drawn. */
function find(text) {
	const want = text.trim().toLowerCase(), by = new Map();
	if (!want) return [];
	for (const n of nodes) {
		const name = label(n);
		if (n.kind === "body" ||
			!(name.toLowerCase().includes(want) || n.file.toLowerCase().includes(want)))
			continue;
		const key = name + "\n" + n.file + "\n" + n.is_blame, g = by.get(key) || { nodes: [], share: 0, name };
		g.nodes.push(n);
		g.share = Math.max(g.share, n.share || 0);
		by.set(key, g);
	}
	return [...by.values()].sort((a, b) => b.share - a.share);
}
function foundItem(g, i, take) {
	return el("li", { role: "option", id: "found" + i, title: cut(g.name, 300), onclick: take },
		`${percent(g.share)}  ${cut(g.name, 80)}  `,
		el("span.soft", null,
			cut(at(g.nodes[0]), 60) + (g.nodes[0].is_blame ? ", by others" : "") +
				(g.nodes.length > 1 ? `, ${count(g.nodes.length)} places` : "")));
}
function search() {
	const input = byId("search"), list = byId("found");
	let found = [], at_ = -1, timer = 0;
	const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
	const mark = i => {
		at_ = i;
		[...list.children].forEach((li, k) => {
			li.setAttribute("aria-selected", k === i);
			if (k === i) {
				li.scrollIntoView({ block: "nearest" });
				input.setAttribute("aria-activedescendant", li.id);
			}
		});
	};
	const take = g => { close(); select(g.nodes.reduce((a, n) => n.share > a.share ? n : a), "search"); };
	function run() {
		found = find(input.value);
		treeState.hits = new Set(found.flatMap(g => g.nodes.map(n => n.id)));
		drawTree();
		list.textContent = "";
		found.slice(0, 40).forEach((g, i) => list.append(foundItem(g, i, () => take(g))));
		if (input.value.trim() && !found.length)
			list.append(
				el("li", { role: "option", "aria-disabled": "true" }, "nothing measured has this name"));
		list.hidden = !input.value.trim();
		input.setAttribute("aria-expanded", String(!list.hidden));
		mark(found.length ? 0 : -1);
	}
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(run, nodes.length > 5000 ? 120 : 20);
	});
	input.addEventListener("keydown", e => {
		if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			mark(Math.max(
				0, Math.min(Math.min(found.length, 40) - 1, at_ + (e.key === "ArrowDown" ? 1 : -1))));
			e.preventDefault();
		} else if (e.key === "Enter" && found[at_])
			take(found[at_]);
		else if (e.key === "Escape") {
			input.value = "";
			run();
			close();
		}
	});
	input.addEventListener("blur", () => setTimeout(close, 200));
}
function keys() {
	const rows = [
		["/", "search; arrows and Enter choose"], ["n  p", "next and previous factor"],
		["v  m  t", "tree by variance, mean, tail"], ["arrows", "in the tree: parent, child, siblings"],
		["Enter", "in the tree: zoom in, or out of the top"], ["Esc", "whole tree; clears the search"],
		["?", "this list"]
	];
	let current = -1;
	onKeys(rows, key => {
		const view = { v: "variance", m: "mean", t: "tail" }[key];
		if (view) {
			const b = root.querySelector(`#where .group button[value=${view}]`);
			if (b && !b.disabled) b.click();
		} else if ((key === "n" || key === "p") && factors.length) {
			current = Math.max(
				0, Math.min(Math.min(causesShown, factors.length) - 1, current + (key === "n" ? 1 : -1)));
			const n = firstNode(factors[current]);
			if (n) select(n, "step");
			const row = root.querySelector(`#factors tr[data-factor="${current}"]`);
			if (row) {
				row.scrollIntoView({ block: "nearest" });
				row.querySelector("button").focus();
			}
		}
	});
}
function sections() {
	const links =
		new Map([...root.querySelectorAll("nav a")].map(a => [a.getAttribute("href").slice(1), a]));
	if (!window.IntersectionObserver) return;
	const seen = new IntersectionObserver(list => {
		for (const e of list)
			if (e.isIntersecting)
				for (const [id, a] of links) a.classList.toggle("here", id === e.target.id);
	}, { rootMargin: "-20% 0px -70% 0px" });
	for (const id of links.keys()) seen.observe(byId(id));
}
/* Where a link leads is shown by all parts. */
function linked() {
	if (treeState.isLinked) select(treeState.selected, "why");
}
drawParts(data.views_only ? [theme, withoutIntervals, otherViews, sections] :
	[theme, summary, causes, spread, where, why, otherViews, code, decided, trust, search, keys, sections, linked]);
