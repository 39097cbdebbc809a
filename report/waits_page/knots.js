/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In words: the answer with its warnings, a card for each knot, all waits, and how far to trust them. */
function answer() {
	const box = byId("head");
	setTitle(`vprof waits: ${data.title}`);
	box.append(el("h1", null, "Which waits limit throughput?"), el("p.lead", { id: "answer" }, data.answer),
		...data.warnings.map(w => el("p.alert", null, w)),
		el("p.small.soft", null, `${duration(R.duration_ns)} recorded` +
			(R.n_cpus ? ` on ${count(R.n_cpus)} ${R.n_cpus === 1 ? "CPU" : "CPUs"}` : "") +
			`, ${threadsText(R.n_threads)}, ${count(R.n_events)} ${R.is_kernel ? "events of the kernel" : "waits recorded by vprof's wrappers"}` +
			(R.run ? `, run ${R.run}` : "") + (data.date ? `, ${data.date}` : "")));
}
const endings = {
	heavy: () => `All edges between them weigh more than ${percent(R.threshold)} of the recording.`,
	parts: () => "Without the lightest edge it falls apart into threads that are mostly idle."
};
function membersText(k) {
	if (k.ending === "cycle" && k.members.length > 1) {
		const list = [k.members[0]];
		for (let e; (e = k.inside.find(x => x.a === list[list.length - 1])) && e.b !== list[0] && list.length < k.members.length;) list.push(e.b);
		return [...list, list[0]].map(p => cut(p.name, 60)).join(" → ");
	}
	const names = k.members.slice(0, 6).map(p => cut(p.name, 60)).join(", ");
	return names + (k.members.length > 6 ? ` and ${count(k.members.length - 6)} more` : "");
}
function edgeCells(e) {
	return [
		el("td", null, el("button.link", { type: "button", onclick: () => selectEdge(e, true) }, cut(edgeWords(e), 160)),
			innermost(e) ? el("div.small.soft.place", { title: cut(e.stacks[0].wait, 400) }, "in " + cut(e.stacks[0].wait, 160)) : null,
			e.is_sleep ? el("span.badge.warn", null, "sleeps") : null, e.is_idle ? el("span.badge", null, "idle") : null),
		el("td.num", null, e.is_idle ? "" : count(e.n_waits)), el("td.num", null, e.is_idle ? "" : ofRecording(e.own_ns)),
		el("td.num", null, percent(e.share), partBar(e.share)),
		el("td.num", null, hasGain(e) ? gainText(e.halved) : ""), el("td.num", null, hasGain(e) ? gainText(e.gone) : "")
	];
}
function edgeTable(list, id) {
	const heads = ["who waits for whom", "waits", "of the recording", "with those behind", "if halved", "if gone"];
	return el("div.scroll", null, el("table.edgelist", { id },
		el("thead", null, el("tr", null, heads.map((h, i) => el(i ? "th.num" : "th", null, h)))),
		el("tbody", null, list.map(e => el("tr", { "data-edge": e.id }, edgeCells(e))))));
}
/* "96 % (92 … 100 %)" */
const bounded = (x, low, high) => percent(x) + (finite(low) && finite(high) ? ` (${percent(low).replace(" %", "")} … ${percent(high)})` : "");
/* Which share of the intervals passes through the knot: of all, then by type. */
function throughTable(k) {
	const list = k.through.filter(x => x.n > 0).slice(0, 12);
	if (!list.length) return null;
	const heads = [R.interval || "interval", "intervals", "mean", "of the mean", "of the variance", "variance if constant", "own work of its threads"];
	return el("div", null, el("h4", null, `What of ${cut(R.interval || "the interval", 60)} passes through it, in waits for its members`),
		el("div.scroll", null, el("table.through", null,
			el("thead", null, el("tr", null, heads.map((h, i) => el(i ? "th.num" : "th", null, h)))),
			el("tbody", null, list.map((x, i) => el("tr", null, el("td", null, i ? cut(x.type, 80) : "all"),
				el("td.num", null, count(x.n)), el("td.num", null, duration(x.mean_ns)),
				el("td.num", null, percent(x.through_ns / x.mean_ns), partBar(x.through_ns / x.mean_ns)),
				el("td.num", null, bounded(x.share, x.share_low, x.share_high), finite(x.share) ? partBar(x.share) : null),
				el("td.num", null, finite(x.if_constant) ? bounded(-x.if_constant, minus(x.if_constant_high), minus(x.if_constant_low)) : "-"),
				el("td.num", null, percent(x.own_ns / x.mean_ns))))))));
}
function knotCard(k) {
	const name = knotName(k), p = k.members[0], runnable = k.runnable_ns / recorded;
	const said = k.verdict === "sink" ? p.kind === "thread" ? `It runs ${percent(p.running_ns / recorded)} of the recording.` : "" :
		endings[k.ending] ? endings[k.ending]() : "";
	return el("div.card.knot", { "data-knot": k.id },
		el("h3", null, `${name[0].toUpperCase()}${name.slice(1)}: ${membersText(k)}`),
		said ? el("p", null, said) : null,
		el("p.remedy", null, k.remedy[0].toUpperCase() + k.remedy.slice(1) + "."),
		runnable >= 0.05 ? el("p", null, `Its threads were runnable without a CPU for ${percent(runnable)} of the recording ` +
			"(summed): more CPUs, or a higher priority, would help, too.") : null,
		throughTable(k),
		k.inside.length ? edgeTable(k.inside.slice(0, 20), "knot" + k.id) : null,
		k.inside.length > 20 ? el("p.small.soft", null, `${count(k.inside.length - 20)} lighter edges`) : null);
}
function knotCards() {
	const box = byId("knots"), set = knots.filter(k => !k.isLimit && k.members.some(p => p.kind === "thread"));
	box.append(...limits.map(knotCard));
	if (!limits.length) box.append(note("Nothing in this recording."));
	if (set.length)
		box.append(el("h3", null, "Set aside: no I/O, and less than one CPU used"),
			el("ul.small", null, set.slice(0, 20).map(k => el("li", null, `${membersText(k)}: busy ${ofRecording(k.busy_ns)} of the recording`))),
			set.length > 20 ? el("p.small.soft", null, `and ${count(set.length - 20)} more`) : null);
}
function allWaits() {
	const box = byId("all"), list = edges.filter(e => !e.is_idle).sort((a, b) => b.weight_ns - a.weight_ns || a.id - b.id);
	let shown = 15;
	const place = el("div"), more = el("button", { type: "button", onclick: () => { shown += 100; fill(); } });
	const fill = () => {
		place.replaceChildren(edgeTable(list.slice(0, shown), "edges"));
		more.hidden = shown >= list.length;
		more.textContent = `Show more of ${count(list.length)}`;
	};
	if (!list.length) { box.append(note("No thread waited for another one.")); return; }
	fill();
	box.append(el("div.card", null, place, el("p", null, more)));
}
function trust() {
	const box = byId("trust"), blocked = sumOf(parties, p => p.blocked_ns), unknown = sumOf(parties, p => p.unknown_ns);
	const rows = [
		["waits without a known waker", blocked > 0 ? percent(unknown / blocked) + " of the waiting time" : "none"],
		["events lost", count(R.n_lost)], ["threads that ran again without a recorded wake-up", count(R.n_assumed)],
		["waits that contradict one another", count(R.n_circular)],
		["gains", finite(R.fidelity) ? `from a replay of ${percent(R.replayed)} of the recording, which unchanged takes ` +
			`${percent(R.fidelity)} of the real time` + (data.is_faithful && !R.cpus_simulated ?
			"; runnable threads get a CPU as late in it as they did, since others used the CPUs, too" : "") : "not estimated"],
		["smallest edge that a knot keeps", percent(R.threshold) + " of the recording"]
	];
	box.append(el("div.card", null, el("dl", null, rows.map(([k, v]) => [el("dt", null, k), el("dd", null, v)]))));
	sayMade(`Made by vprof ${data.vprof} from ${cut(data.title, 200)}.`);
}
