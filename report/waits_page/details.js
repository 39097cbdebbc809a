/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why: what is selected. An edge shows where the waits are and where they were ended, and what shortening them would
 * give; a vertex how it spent its time, whom it waits for, and who waits for it. */
function partBar(part, kind) {
	return el("div.meter", { "aria-hidden": "true" },
		el("i" + (kind ? "." + kind : ""), { style: `width:${Math.max(0, Math.min(100, 100 * part)).toFixed(1)}%` }));
}
function stackList(e, side, title) {
	const list = stacksBy(e, side), all = e.weight_ns || 1;
	if (!list.length) return null;
	const rest = 1 - sumOf(list, s => s.weight) / all;
	return el("div.stacks", null, el("h3", null, title),
		list.map(s => el("div.stack", null,
			el("div.part", null, el("b", null, percent(s.weight / all)), partBar(s.weight / all)),
			el("ol", null, frames(s.text).map((f, i) => el(i ? "li" : "li.first", { title: f.length > 160 ? cut(f, 2000) : null }, cut(f, 160)))))),
		rest > 0.005 ? el("p.small.soft", null, `${percent(rest)} of it at lighter places, or not known where`) : null);
}
function gains(e) {
	if (e.is_idle) return el("p.note", null, "A device without requests: nothing to improve by itself.");
	if (!hasGain(e))
		return el("p.small.soft", null,
			finite(R.fidelity) && !data.is_faithful ? "No gains are shown: the replay of the recording is too far off." :
				"Not estimated: only the heaviest waits within knots are.");
	const list = [["half as long", e.halved], ["gone", e.gone]];
	if (finite(e.saved) && e.saved > e.gone + 0.005) list.push(["I/O saved", e.saved]);
	const most = Math.max(0.1, ...list.map(([, x]) => x));
	return el("div.gains", { role: "table", "aria-label": "Throughput if these waits were shorter" },
		list.map(([name, x]) => el("div", { role: "row" },
			el("span", { role: "cell" }, name), partBar(Math.max(0, x) / most, "good"),
			el("b", { role: "cell" }, gainText(x)))),
		el("p.small.soft", null, "Throughput if these waits were shorter: an upper bound for this change alone, from a replay of the recording." +
			(list.length > 2 ? " I/O saved: its requests took the disk no time, either, as with larger batches." : "")));
}
function edgeDetails(e) {
	const rows = e.is_idle ? [["idle", ofRecording(e.weight_ns) + " of the recording"]] : [
		["waits", `${count(e.n_waits)}, ${duration(e.own_ns / Math.max(1, e.n_waits))} each on average`],
		["of the recording", ofRecording(e.own_ns)],
		["weight", `${ofRecording(e.weight_ns)}${e.weight_ns > 1.01 * e.own_ns ? ", with those who wait for it meanwhile" : ""}`]
	];
	return [
		el("h2", null, partyLink(e.a), e.a === e.b ? ": its threads wait for one another" :
			[e.is_idle ? " waits for requests from " : " waits for ", partyLink(e.b)]),
		el("p.small", null, e.knot ? el("span.badge.culprit", null, knotName(e.knot)) : el("span.badge", null, "outside the knots"),
			e.is_sleep ? el("span.badge.warn", null, "sleeps while others wait for it") : null),
		el("dl", null, rows.map(([k, v]) => [el("dt", null, k), el("dd", null, v)])), gains(e),
		e.is_idle ? null : [
			stackList(e, "wait", "Where it waits"),
			stackList(e, "waker", "Where the waits are ended"),
			e.stacks.length ? null : el("p.small.soft", null, R.is_kernel ? "No stacks were recorded." : "Only the names of the functions that waited are recorded without the kernel's events.")
		]
	];
}
const partyLink = p => el("button.link", { type: "button", onclick: () => selectParty(p) }, cut(p.name, 60));
function edgeRows(list, name, other) {
	if (!list.length) return null;
	return el("div", null, el("h3", null, name),
		el("ul.edges", null, list.slice(0, 12).map(e => el("li", null,
			el("button.link", { type: "button", onclick: () => selectEdge(e) }, cut(other(e).name, 60) + (e.is_idle ? " (idle)" : "")),
			el("b.num", null, ownText(e)), partBar(e.share / Math.max(1, e.a.n_threads))))),
		list.length > 12 ? el("p.small.soft", null, `${count(list.length - 12)} lighter ones: see all waits below`) : null);
}
function partyDetails(p) {
	const others = p.blocked_ns > 0 ? p.unknown_ns / p.blocked_ns : 0;
	return [
		el("h2", { title: p.name }, cut(p.name, 120)),
		el("p.small", null, partyWhat(p) + " ",
			p.knot ? el("span.badge" + (p.knot.isLimit ? ".culprit" : ""), null, p.knot.isLimit ? knotName(p.knot) : "set aside: in the background") :
				el("span.badge", null, "in no knot")),
		p.role ? el("p.small.role", null, `begins in ${cut(p.role, 120)}`) : null,
		p.kind === "thread" ? el("div", null,
			el("div.split", { "aria-hidden": "true" }, stateParts(p).map(([name, part]) =>
				el("i.s-" + name, { style: `width:${Math.max(0, Math.min(100, 100 * part)).toFixed(1)}%` }))),
			el("ul.legend", null, stateParts(p).map(([name, part]) =>
				el("li", null, el("i.s-" + name, { "aria-hidden": "true" }), `${name} ${percent(part)}`))),
			others > 0.005 ? el("p.small.soft", null, `${percent(others)} of its waiting time has no known waker`) : null) : null,
		edgeRows(p.out, "It waits for", e => e.b), edgeRows(p.in, "Who waits for it", e => e.a)
	];
}
function drawDetails() {
	const box = byId("why"), e = view.edge || (view.party ? null : firstEdge());
	box.replaceChildren(...[
		view.party ? partyDetails(view.party) : e ? edgeDetails(e) :
			el("p.soft", null, edges.length ? "Click on an edge or a vertex." : "No thread waited for another one.")
	].flat(Infinity).filter(Boolean));
	box.scrollTop = 0;
}
/* What the reader sees without having chosen: the heaviest edge that limits throughput. */
const firstEdge = () => limits.length ? limits[0].inside.find(e => !e.is_idle) || null : null;
