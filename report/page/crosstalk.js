/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom requests wait for: a heat map of waiters and holders; a cell opens its locks and what the holders ran. */
const PARTIES_SHOWN = 16;
const partyNames = {
	itself: "other threads working for it",
	released: "nobody: woken, but without a CPU",
	unknown: "not known"
};
const partyName = p => partyNames[p.kind] || p.name;
/* Parties in the order of the heaviest pair of each. */
function partiesBy(key) {
	return [...new Set(R.crosstalk.map(x => x[key]))].slice(0, PARTIES_SHOWN);
}
function lockName(l) {
	const place = l.is_call && l.file ? ` (${l.file}:${l.line})` : l.function ? " in " + l.function : "";
	return (l.awaited || l.name) + place + (!l.awaited && l.object ? ", " + l.object : "");
}
/* What holders ran, as a tree: an entry lies beneath the last one before it of smaller depth. */
function heldRows(l) {
	return l.held.map(h => el("li", { style: `margin-left:${Math.min(h.depth, 12) * 14}px` },
		el("span", { title: cut(h.name + (h.file ? ` ${h.file}:${h.line}` : ""), 300), style: "overflow-wrap:anywhere" },
			cut(h.name, 80)),
		el("div.meter", { "aria-hidden": "true" },
			el("i", { style: `width:${Math.max(0, Math.min(100, 100 * h.total_ns / (l.total_ns || 1)))}%` })),
		el("span.num.small", null, duration(h.total_ns))));
}
function pairBounds(x) {
	return percent(x.share) + " of its time" +
		(finite(x.share_low) && finite(x.share_high) ? ` (${percent(x.share_low)} … ${percent(x.share_high)})` : "");
}
function showPair(box, x) {
	const waiter = R.parties[x.waiter], holder = R.parties[x.holder];
	box.textContent = "";
	box.append(el("h4", null, `${cut(waiter.name, 60)} waits for ${cut(partyName(holder), 60)}`),
		el("p", null, el("b", null, duration(x.total_ns)),
			` in ${count(x.n_waits)} waits; ${pairBounds(x)}`),
		...x.locks.map(l => el("div.card.wait", null,
			el("div", null, el("b", { style: "overflow-wrap:anywhere" }, cut(lockName(l), 200))),
			el("div", null, `${duration(l.total_ns)} in ${count(l.n_waits)} waits`),
			l.held.length ? el("ul.blame-list", { "aria-label": "What the holders ran meanwhile" }, heldRows(l)) : null)));
}
function crosstalkMap(detail) {
	const rows = partiesBy("waiter"), columns = partiesBy("holder"),
		pairOfParties = new Map(R.crosstalk.map(x => [x.waiter + "," + x.holder, x])),
		most = d3.max(R.crosstalk, x => x.total_ns) || 1;
	const cell = (i, j) => {
		const x = pairOfParties.get(i + "," + j), name = `${R.parties[i].name} for ${partyName(R.parties[j])}`;
		if (!x) return el("td", null, "-");
		return el("td", {
			style: `background:color-mix(in srgb, var(--pos) ${Math.round(45 * x.total_ns / most)}%, var(--faint))`,
			title: `${cut(name, 160)}: ${pairBounds(x)}`
		},
			el("button.link", {
				type: "button",
				style: "color:inherit",
				"aria-label": `${cut(name, 160)}: ${duration(x.total_ns)}`,
				onclick: () => showPair(detail, x)
			}, duration(x.total_ns)));
	};
	return el("div.scroll", null,
		el("table.heat", { id: "crosstalk" },
			el("tr", null, el("td", { style: "background:none" }, "waiter \\ holder"),
				columns.map(j => el("th", { scope: "col", title: cut(R.parties[j].name, 300) },
					cut(R.parties[j].kind === "type" || R.parties[j].kind === "thread" ? R.parties[j].name :
						R.parties[j].kind, 18)))),
			rows.map(i => el("tr", null,
				el("th", { scope: "row", title: cut(R.parties[i].name, 300) }, cut(R.parties[i].name, 24)),
				columns.map(j => cell(i, j))))));
}
function crosstalk(box) {
	const detail = el("div", { id: "pair", "aria-live": "polite" });
	if (!R.crosstalk.length) return;
	box.append(el("div", null, el("h3", null, "Who waits for whom"),
		el("p.small.soft", null,
			"Time that requests waited, by whom the holder worked for meanwhile, over all requests. A cell shows " +
				"where, and what the holders ran."),
		crosstalkMap(detail),
		R.parties.length > PARTIES_SHOWN ?
			el("p.small.soft", null, `${PARTIES_SHOWN} of ${count(R.parties.length)} shown: vprof report transactions`) :
			null,
		detail));
	showPair(detail, R.crosstalk[0]);
}
