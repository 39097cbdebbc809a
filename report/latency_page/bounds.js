/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures between two bounds, in words and as a bar. */
/* "4.9 … 5.1 ms"; one value where both are the same. */
function between(low, high, text) {
	const a = text(low), b = text(high);
	return a === b ? a : `${a} … ${b}`;
}
function boundBar(low, high, all) {
	const at = x => Math.max(0, Math.min(100, 100 * x / all)), a = at(low), b = at(high);
	return el("div.meter", { "aria-hidden": "true" }, el("i", { style: `left:0;width:${b.toFixed(1)}%` }), el("i.sure", { style: `left:0;width:${a.toFixed(1)}%` }));
}
