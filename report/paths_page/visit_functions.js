/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Visits opened into the functions that their threads ran: of each tier in the mean, of the chosen request one by one. */
const spanOf = (low, high, tell) => tell(low) === tell(high) ? tell(low) : `${tell(low)} … ${tell(high)}`;
/* The functions beneath one, by falling time; those around the whole visit share a line with what is in them. */
function functionItems(list, parent, whole, tell) {
	const items = list.filter(f => f.parent === parent && f.high_ns >= 0.005 * whole).sort((a, b) => b.high_ns - a.high_ns);
	const isAround = f => f.low_ns >= 0.999 * whole;
	if (items.length === 1 && isAround(items[0])) return functionItems(list, items[0].id, whole, tell);
	return items.length ? el("ul", null, ...items.map(f => el("li", { "data-function": f.name }, tell(f) + " ", el("b.name", null, cut(f.name, 200)),
		el("span.small.soft", null, f.file ? " " + cut(f.file, 80) : ""), functionItems(list, f.id, whole, tell)))) : null;
}
const howTold = how => how === "measured" ? "measured by probes" : "inferred from stacks";
function openedTier(o) {
	const all = (R.layers || []).map((l, i) => ({ ...l, id: i, parent: l.parent === i ? null : l.parent })), root = all[o.layer];
	const part = l => spanOf(Math.min(1, l.low_ns / root.high_ns), Math.min(1, l.high_ns / root.low_ns), percent) +
		(finite(l.share_low) && finite(l.share_high) ? ` (variance ${spanOf(l.share_low, Math.min(1, l.share_high), percent)})` : "");
	const left = [[o.n_shared, "their thread worked for several at once"], [o.n_passed, "another thread replied"],
		[o.n_outside, "not recorded all the time"], [o.n_sampled, "some calls were only counted"]].filter(x => x[0] > 0);
	const why = left.map(([n, why]) => `; ${count(n)} left out: ${why}`).join("");
	if (!root) return el("p.small", { "data-opened": o.tier }, `None of the ${count(o.n_visits)} visits to ${cut(o.tier, 80)} is opened${why}.`);
	return el("details.functions", { "data-opened": o.tier }, el("summary", null, el("i.tier." + colour(o.tier), { "aria-hidden": "true" }),
		`A visit to ${cut(o.tier, 80)}${R.n_hosts > 1 ? " on " + cut(o.host, 60) : ""}: ${duration(root.low_ns)}, ${howTold(o.how)} (${count(o.n_opened)} of ${count(o.n_visits)} visits${why})`), functionItems(all, root.id, root.high_ns, part) || note("No function in it has a part of its time to speak of."));
}
/* Below the table of tiers. */
function openedTiers() {
	if (!(R.opened || []).length) return;
	byId("tiers").append(el("div.card", { id: "opened" }, el("p.small.soft", null, "What the threads of a visit ran meanwhile, with what it waited for: parts of the visit's time."), ...R.opened.map(openedTier)));
}
/* Below the picture of a request. */
function openedVisits(request) {
	const opened = request.visits.filter(v => (v.functions || []).length);
	return opened.map(v => el("details.functions", null, el("summary", null, el("i.tier." + colour(v.tier), { "aria-hidden": "true" }),
		`${cut(v.tier, 80)}: ${duration(v.served_ns)} in ${cut(v.process, 60)} (${v.pid}/${v.tid})`),
	functionItems(v.functions.map((f, i) => ({ ...f, id: i })), null, v.served_ns, f => spanOf(f.low_ns, f.high_ns, duration))));
}
