/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each tier's part of a request's time, of the variance and of the slowest requests. And which tier's calls of which
 * explain most, with all that they call. */
const callsShown = 20;
function callTable() {
	const calls = R.calls.filter(c => c.from !== null).sort((a, b) => (finite(b.share) ? b.share : -1e9) - (finite(a.share) ? a.share : -1e9));
	if (!calls.length) return [];
	const head = ["call", "calls of a request", "mean", "in transit", "in receive queues", "of the variance", "of the slowest 1 %"], name = i => cut(R.tiers[i].name, 80);
	const time = x => finite(x) ? duration(x) : "";
	return [el("div.card", null, el("table", { id: "calllist" }, el("thead", null, el("tr", null, head.map((h, i) => el(i ? "th.num" : "th", null, h)))),
		el("tbody", null, calls.slice(0, callsShown).map(c => el("tr", null, el("td", null, `${name(c.from)} > ${name(c.to)}`),
			[(c.n / R.latency.n).toFixed(2), time(c.mean_ns), time(c.transit_ns), time(c.queued_ns), percent(c.share), percent(c.tail_share)].map(x => el("td.num", null, x))))))),
	el("p.small.soft", null, "Calls, with all that they call: so they overlap, and do not add up. In transit: of both ways, receive queues included" +
		(calls.length > callsShown ? `. ${count(calls.length - callsShown)} more are in --json.` : "."))];
}
function tierTable() {
	const box = byId("tiers"), head = ["tier", "visits of a request", "p50", "p99", "own time", "of the variance", "of the slowest 1 %"];
	if (!R.tiers.length) {
		box.append(note("No request was found of which all is known."));
		return;
	}
	box.append(el("div.card", null, el("table", { id: "tierlist" }, el("thead", null, el("tr", null, head.map((h, i) => el(i ? "th.num" : "th", null, h)))),
		el("tbody", null, R.tiers.map(t => el("tr", { "data-tier": t.name }, el("td", null, t.is_transit ? null : el("i.tier." + colour(t.name), { "aria-hidden": "true" }), cut(t.name, 80),
			t.is_transit || t.is_recorded ? null : el("span.soft", null, " (not recorded)")),
		[t.is_transit ? "" : t.visits_per_request.toFixed(2), t.is_transit ? "" : duration(t.response.p50_ns), t.is_transit ? "" : duration(t.response.p99_ns),
			duration(t.own_ns), percent(t.share), percent(t.tail_share)].map(x => el("td.num", null, x))))))),
	el("p.small.soft", null, "p50 and p99: of a visit, with what it calls. Own time: of a request in the mean, without what is called; own times, and the shares, add up. " +
		"In transit: between a call's two ends, in networks, queues and buffers." +
		(R.tiers.some(t => t.is_queue) ? " In receive queues: what was sent had come, and its receiver had not read it yet; at least." : "")), ...callTable());
}
