/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search, keys, the selection's place in the address (#c=CONTEXT); then everything is drawn. */
function readAddress() {
	const at = /^c=(\d{1,9})$/.exec(address.get());
	if (at && contexts[+at[1]]) select(contexts[+at[1]], true);
}
function search() {
	const input = byId("search");
	const find = () => {
		const text = input.value.trim().toLowerCase();
		view.hits = new Set(text ? contexts.filter(c => c.name.toLowerCase().includes(text)).map(c => c.id) : []);
		redraw();
	};
	input.addEventListener("input", find);
	input.addEventListener("keydown", e => {
		const best = ordered.filter(c => view.hits.has(c.id)).sort((a, b) => varies(b) - varies(a) || b.high_ns - a.high_ns)[0];
		if (e.key === "Enter" && best) select(best);
		if (e.key === "Escape") { input.value = ""; find(); }
	});
}
function step(by) {
	if (!shown.length) return;
	const at = shown.indexOf(view.selected);
	select(shown[Math.max(0, Math.min(shown.length - 1, at + by))]);
}
function keys() {
	onKeys([["/", "find a function; Enter selects the one that may vary most"], ["n  p", "next and previous function"], ["Esc", "select none"], ["?", "this list"]], key => {
		if (key === "n" || key === "p") step(key === "n" ? 1 : -1);
		else if (key === "Escape") select(null);
	});
}
drawParts([theme, head, contextList, trust, search, keys, readAddress]);
