/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search and keys; then everything is drawn. */
function redraw() {
	const list = byId("pictures");
	list.replaceChildren();
	drawPatterns(list);
	showRequest(view.request);
}
function search() {
	const input = byId("search");
	const set = text => { view.hits = text; redraw(); };
	input.addEventListener("input", () => set(input.value.trim().toLowerCase()));
	input.addEventListener("keydown", e => { if (e.key === "Escape") { input.value = ""; set(""); } });
}
function keys() {
	onKeys([["/", "mark a tier"], ["n  p", "faster and slower request"], ["?", "this list"]], key => {
		if (key === "n" || key === "p") stepRequest(key === "n" ? 1 : -1);
	});
}
drawParts([theme, head, tierTable, openedTiers, patterns, requestTimeline, responseTimes, trust, search, keys]);
