/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search, keys, the selection's place in the address (#c=CONTEXT); then everything is drawn. */
function readAddress() {
	const at = /^c=(\d{1,9})$/.exec(address.get());
	if (at && contexts[+at[1]]) view.selected = contexts[+at[1]];
}
function search() {
	const input = byId("search");
	const find = () => {
		const text = input.value.trim().toLowerCase();
		view.hits = new Set(text ? contexts.filter(c => c.f.name.toLowerCase().includes(text)) : []);
		if (crumbs) drawFlames();
	};
	input.addEventListener("input", find);
	input.addEventListener("keydown", e => {
		const best = [...view.hits].sort((a, b) => timeOf(b, "new") - timeOf(a, "new"))[0];
		if (e.key === "Enter" && best) select(best);
		if (e.key === "Escape") { input.value = ""; find(); }
	});
}
function step(by) {
	const i = paths.findIndex(p => p.end === view.selected);
	if (paths.length) select(paths[Math.max(0, Math.min(paths.length - 1, i + by))].end);
}
function keys() {
	onKeys([["/", "find a function; Enter selects the one with most time"], ["n  p", "next and previous path"], ["arrows", "in the flame graph: caller, callee, neighbours"],
		["z", "in the flame graph: zoom"], ["Esc", "all of the flame graph"], ["?", "this list"]], key => {
		if (key === "n" || key === "p") step(key === "n" ? 1 : -1);
		else if (key === "Escape" && crumbs) zoomTo(null);
	});
}
readAddress();
listeners.push(() => { if (view.selected) address.set("c=" + view.selected.id, true); });
drawParts([theme, head, pathList, flame, heatmap, instances, trust, search, keys]);
