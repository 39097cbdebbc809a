/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer in words with its warnings, and how far all of it can be trusted. */
function head() {
	const box = byId("head");
	setTitle(`vprof paths: ${data.title}`);
	box.append(el("h1", null, "Where do requests go, and where is their time?"), el("p.lead", { id: "answer" }, data.answer),
		...data.warnings.map(w => el("p.alert", null, w)),
		el("p.small.soft", null, `${count(R.n_requests)} requests in ${duration(R.duration_ns)}, ${count(R.n_connections)} connections` +
			(R.n_hosts > 1 ? `, ${count(R.n_hosts)} hosts` : "") + (data.date ? `, ${data.date}` : "")));
}
function trust() {
	const box = byId("trust");
	const rows = [
		["requests", `${count(R.n_certain)} certain, ${count(R.n_inferred)} inferred` + (R.n_inferred ? ` (each with ${percent(R.least_confidence)} or more)` : "") +
			`, ${count(R.n_ambiguous)} ambiguous, ${count(R.n_torn)} with parts missing, ${count(R.n_cut)} without a reply`],
		["connections seen at one end only", count(R.n_one_end)], ["connections not seen being made: ports, or who spoke first, tell who serves", count(R.n_guessed)],
		["connections whose addresses were translated on the way", count(R.n_translated)],
		["events lost", count(R.n_lost)], ["bytes that nobody was seen to send or receive", count(R.n_bytes_missing)],
		["calls outside of requests", count(R.n_outside)], ["calls of which it is not known for which request they were made", count(R.n_detached)]
	];
	const clocks = R.clocks.filter(c => c.n_messages || !c.is_known).map(c => [c.host, !c.is_known ? "clock not known: it exchanged no messages with the others" :
		c.error_ns < 0 ? "clock was set during the recording" : `${duration(Math.abs(c.ahead_ns))} ${c.ahead_ns < 0 ? "behind" : "ahead"}, within ${duration(c.error_ns)}; drift ${(c.drift * 1e6).toFixed(1)} ppm`]);
	const list = pairs => el("dl", null, pairs.map(([k, v]) => [el("dt", null, k), el("dd", null, v)]));
	box.append(el("div.card", null, list(rows)), R.links.length ? el("div.card", null, el("h3", null, "A call belongs to the request that is"), list(R.links.map(l => [l.how, count(l.n)]))) : "",
		clocks.length ? el("div.card", null, el("h3", null, "Clocks, against the first host's"), list(clocks)) : "");
	sayMade(`Made by vprof ${data.vprof} from ${cut(data.title, 200)}.`);
}
