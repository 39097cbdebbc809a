/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was decided, and how far to trust it. */
/* A person's verdict (vprof review) stands before the drill-down's of the same factor. */
function verdictList(known) {
	const said = new Map(), rank = v => known.has(v.key) ? known.get(v.key).id || 0 : 1e9;
	for (const v of data.verdicts) if (v.date || !said.has(v.key)) said.set(v.key, v);
	const list = [
		...said.values(),
		...factors.filter(f => f.verdict && f.verdict !== "broken down" && !said.has(f.key) &&
				!R.causes.some(c => said.has(c.key) && c.factors.includes(f.id)))
			.map(f => ({ key: f.key, verdict: f.verdict, note: f.note }))
	];
	return list.sort((a, b) => (b.date ? 1 : 0) - (a.date ? 1 : 0) || rank(a) - rank(b));
}
/* Of a factor f of this run, or of one that it does not have. */
function verdictRow(v, f) {
	const choose = () => {
		const n = f.steps ? nodes[f.steps.length ? f.steps[f.steps.length - 1].node : f.nodes[0]] : firstNode(f);
		if (n) select(n, "causes");
	};
	return el("tr", null, el("td", null, verdictBadge(v.verdict)),
		el("td", null,
			f ? el("button.link.name", { type: "button", onclick: choose }, f.name) :
				el("span.name.soft", null, v.name || v.key),
			f && f.is_blame ? el("span.small.soft", null, "while the interval waited") : null),
		el("td.num", null, f ? percent(f.share) : "not in this run"),
		el("td", null, v.note || "",
			v.date ? el("div.small.soft", null,
				`${v.date.replace("T", " ").replace(/:\d\dZ$/, " UTC")}, run ${v.run}`) :
				null));
}
function verdicts(box) {
	const known = new Map([...factors, ...R.causes].map(f => [f.key, f])), list = verdictList(known);
	if (!list.length) {
		box.append(note("No verdicts yet: give them in vprof iterate or with vprof review."));
		return;
	}
	let shown = 12;
	const body = el("tbody"), more = el("button", {
		type: "button",
		onclick: () => {
			shown += 100;
			draw();
		}
	});
	const draw = () => {
		body.textContent = "";
		for (const v of list.slice(0, shown)) body.append(verdictRow(v, known.get(v.key)));
		more.hidden = shown >= list.length;
		more.textContent = `Show all ${count(list.length)}`;
	};
	draw();
	box.append(el("div.card.scroll", null,
		el("table", { id: "verdicts" },
			el("thead", null,
				el("tr", null, el("th", null, "verdict"), el("th", null, "cause or factor"),
					el("th.num", null, "share now"), el("th", null, "note"))),
			body),
		el("p", null, more)));
}
function roundCells(r, most) {
	if (!r.is_analysed)
		return el("td.soft", { colspan: 6 },
			r.state === "decided" || r.state === "analysed" ?
				"its results are missing, or from another version" :
				r.state);
	return [
		el("td.num", null, count(r.n_complete)), el("td.num", null, duration(r.mean_ns)),
		el("td.num", null, duration(r.sd_ns)),
		el("td", null,
			el("div.meter", { "aria-hidden": "true" },
				el("i", { style: `width:${100 * r.sd_ns / most}%` }))),
		el("td.num", null, duration(r.p99_ns)),
		el("td", null,
			r.inconclusive ? "inconclusive" :
				r.top.map(t => `${cut(t.name, 40)} ${percent(t.share)}`).join(", "))
	];
}
function rounds(box) {
	if (!data.rounds.length) return;
	const most = d3.max(data.rounds, r => r.sd_ns) || 1;
	const heads = ["run", "intervals", "mean", "sd", "", "99 %", "first factors"];
	const row = (r, i) => el("tr", { class: r.run === R.run ? "on" : null },
		el("td", null,
			r.run + (i ? "" : " (annotations only)") + (r.run === R.run ? ", this page" : "")),
		roundCells(r, most));
	box.append(el("h3", null, "Rounds of the drill-down"),
		el("div.card.scroll", null,
			el("table", { id: "rounds" },
				el("thead", null,
					el("tr", null, heads.map((h, i) => el(i > 0 && i < 6 && h ? "th.num" : "th", null, h)))),
				el("tbody", null, data.rounds.map(row)))));
	if (data.ending) box.append(el("p", null, data.ending));
}
function decided() {
	const box = byId("decided");
	verdicts(box);
	rounds(box);
}
/* How far to trust it: rows of [what, what is known of it]. */
const partOf = (n, all) => all ? ` (${percent(n / all)})` : "";
function intervalRows() {
	const all = R.n_complete + R.n_not_drawn + R.n_cut + R.n_ambiguous + (R.n_restarted || 0);
	const rows = [[
		"intervals",
		`${count(R.n_complete)} complete${R.n_not_drawn ? `, drawn at random from ${count(R.n_complete + R.n_not_drawn)}` : partOf(R.n_complete, all)}, ${count(R.n_cut)} cut by the trace's ` +
			`start or end, ${count(R.n_ambiguous)} ambiguous, ${count(R.n_restarted)} restarted before they ended`
	]];
	if (R.n_lossy)
		rows.push([
			"records lost",
			`${count(R.n_lossy)} complete intervals left out because records that they may need were lost`
		]);
	if (R.n_outside)
		rows.push([
			"not recorded",
			`${count(R.n_outside)} intervals outside the recording windows, mean ${duration(R.outside_mean_ns)} ` +
				`(recorded: ${duration(R.mean_ns)})`
		]);
	return rows;
}
function recordsText() {
	return `${count(R.n_records)} read, ${count(R.n_dropped)} dropped` +
		(R.n_bytes_ignored ? `, ${count(R.n_bytes_ignored)} damaged bytes ignored` : "") +
		(R.n_calls_sampled ? `, ${count(R.n_calls_sampled)} stand for several calls of hot functions` : "");
}
function waitRows() {
	const rows = [[
		"waits for other threads",
		R.n_waits ? `${count(R.n_waits)}: ${count(R.n_waits_matched)} matched with their ` +
			`waker${partOf(R.n_waits_matched, R.n_waits)}, ${count(R.n_waits_unmatched)} not; ` +
			`${count(R.n_waits_by_time)} by their timing alone` :
			"none"
	]];
	if (R.n_waits_undecided)
		rows.push([
			"waits for data",
			`${count(R.n_waits_undecided)} that any of several senders may have ended`
		]);
	return rows;
}
/* The cost of the probes: against the run with annotations only, or estimated; "" where neither is known. */
function probesText() {
	if (finite(R.baseline_mean_ns))
		return `mean ${duration(R.mean_ns)} against ${duration(R.baseline_mean_ns)}` +
			(finite(R.baseline_low) ? ` (${duration(R.baseline_low)} … ${duration(R.baseline_high)})` : "") +
			` with annotations only: ${R.mean_ns >= R.baseline_mean_ns ? "+" : ""}` +
			percent(R.mean_ns / R.baseline_mean_ns - 1) +
			(finite(R.probe_ns) ? `; recording accounts for ${duration(R.probe_ns)}` : "");
	if (!finite(R.probe_ns)) return "";
	return `recording adds an estimated ${duration(R.probe_ns)} to the mean; there is no run with ` +
		`annotations only to compare with`;
}
function preemptedText() {
	if (!finite(R.preempted_share)) return "unknown: " + (R.no_switches || "not recorded in this run");
	return `known: ${percent(R.preempted_share)} of the mean` +
		(finite(R.preempted_by_own) ?
			`, ${percent(R.preempted_by_own)} of it to threads of the session` :
			"") +
		`; ${count(R.n_switches)} switches, ${count(R.n_switches_lost)} lost`;
}
function boundsText() {
	if (!R.n_blocks) return "95 %, where shown";
	return `95 %, from a bootstrap over ${count(R.n_blocks)} blocks of intervals` +
		(R.n_to_settle > 0 && R.n_to_settle < 1e15 ?
			`; ${count(R.n_to_settle)} intervals would settle the order` :
			"");
}
const CLOSED_MAX = 10;
function trustRows() {
	const rows = [...intervalRows(), ["records", recordsText()], ...waitRows()], probes = probesText();
	if (probes) rows.push(["cost of the probes", probes]);
	const closed = [...R.closed].sort((a, b) => b.bound - a.bound);
	for (const c of closed.slice(0, CLOSED_MAX))
		rows.push([
			"closed",
			`${cut(c.display, 60)}${c.file ? ` (${c.file}:${c.line})` : ""}: at most ${percent(Math.ceil(1000 * c.bound) / 1000)} of the ` +
				`variance; recording it took ${duration(c.saved_ns)} (${percent(c.saved)} of the mean, run ` +
				`${c.run}). It is not measured: its time counts in its callers`
		]);
	if (closed.length > CLOSED_MAX)
		rows.push([
			"closed",
			`${count(closed.length - CLOSED_MAX)} more, each with at most ` +
				`${percent(Math.ceil(1000 * closed[CLOSED_MAX].bound) / 1000)} of the variance`
		]);
	rows.push(["preempted", preemptedText()], ["confidence intervals", boundsText()]);
	if (finite(R.slowest_share) && R.slowest_share >= 0.1)
		rows.push(["slowest interval", `accounts for ${percent(R.slowest_share)} of the variance by itself`]);
	rows.push(["trace", duration(R.duration_ns)]);
	if (R.n_covariances > R.covariances.length)
		rows.push([
			"pairs",
			`${count(R.covariances.length)} largest of ${count(R.n_covariances)} are in this page; all are in ` +
				`results.json`
		]);
	return rows;
}
function trust() {
	const box = byId("trust");
	for (const [i, w] of R.warnings.entries())
		box.append(el("p.alert" + (R.inconclusive && i === 0 ? ".bad" : ""), null, w));
	if (!R.warnings.length) box.append(note("No warnings."));
	box.append(el("div.card", null,
		el("dl", null, trustRows().map(([k, v]) => [el("dt", null, k), el("dd", null, v)]))));
	sayMade(
		`Made by vprof ${data.vprof} from run ${R.run} of ${cut(data.root, 200)}.`);
}
