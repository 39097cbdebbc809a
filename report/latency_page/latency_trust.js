/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer in words with its warnings, and how far all of it can be trusted. */
/* Stacks in windows of time: everything is a sample then. */
function windowWords(s) {
	return s.n_windows > 1 ? `of that ${duration(s.observed_ns)} in ${count(s.n_windows)} windows of time with stacks, ` : "";
}
function head() {
	const box = byId("head");
	setTitle(`vprof latency: ${data.title}`);
	box.append(el("h1", null, isComparison ? "What takes longer than before?" : "Which functions take the time?"), el("p.lead", { id: "answer" }, data.answer),
		...data.warnings.map(w => el("p.alert", null, w)),
		...sides.map(side => el("p.small.soft", null, (isComparison ? `${side === "base" ? "Base" : "New"}: ${R[side].run}, ` : "") +
			`${duration(R[side].duration_ns)} recorded, ${windowWords(R[side])}${count(R[side].n_events)} events with stacks, ${count(R[side].n_threads)} threads, ` +
			`${count(R[side].n_instances)} calls inferred` + (side === "new" && data.date ? `, ${data.date}` : ""))));
}
function trust() {
	const box = byId("trust");
	for (const side of sides) {
		const s = R[side], left = s.n_without + s.n_cut + s.n_unpaired, busy = s.total_ns - s.idle_ns;
		const rows = [
			["events lost", count(s.n_lost)],
			["events left out", left ? `${count(left)}: ${count(s.n_without)} without a stack of the program (${count(s.n_kernel_only)} with the kernel's alone), ${count(s.n_cut)} of which outer frames are missing ` +
				`(${count(s.n_deep)} reach too far, ${count(s.n_untabled)} in code without unwind tables, ${count(s.n_gone)} of processes that ended too soon, ${count(s.n_long)} of too many frames), ${count(s.n_unpaired)} from nobody knows where` : "none"],
			["functions without a name", s.n_frames ? percent(s.n_unnamed / s.n_frames) + " of the frames" : "none"],
			["time in which a function may have returned and been called again", busy > 0 ? percent(s.unsure_ns / busy) : "-"],
			["idle time, which is no cost", s.total_ns > 0 ? `${percent(s.idle_ns / s.total_ns)} of the threads' time` : "-"]
		];
		box.append(el("div.card", null, isComparison ? el("h3", null, side === "base" ? "Base" : "New") : null, el("dl", null, rows.map(([k, v]) => [el("dt", null, k), el("dd", null, v)]))));
	}
	box.append(el("p.small.soft", null, "Latencies are inferred from stacks: a call took at least as long as it was seen, at most from the event before to the event after. " +
		"Calls between two events are not seen; repeated calls from one place without an event in between count as one."));
	sayMade(`Made by vprof ${data.vprof} from ${cut(data.title, 200)}.`);
}
