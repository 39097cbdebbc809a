/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer in words with its warnings; the contexts beneath the interval, each between its bounds; how far all of it can be
 * trusted. */
const STEP = 300; /* rows that are drawn at a time */
const rows = new Map();
let shown = [], drawn = STEP, showsAll = false, redraw = () => {};
function head() {
	setTitle(`vprof latency: ${data.title}`);
	byId("head").append(el("h1", null, `What makes calls of ${cut(R.name, 120)} vary?`), el("p.lead", { id: "answer" }, data.answer),
		...data.warnings.map(w => el("p.alert", null, w)),
		el("p.small.soft", { id: "figures" }, `${count(R.n_used)} calls, mean ${between(R.mean_low_ns, R.mean_high_ns, duration)}, standard deviation ` +
			`${between(R.sd_low_ns, R.sd_high_ns, duration)}` + (data.date ? `, ${data.date}` : "")));
}
const place = c => c.kind === "kernel" ? "kernel" : c.file ? cut(c.file, 80) : "";
function detail() {
	const box = byId("detail"), c = view.selected;
	box.replaceChildren(...c ? [el("h3", null, cut(c.name, 200)), el("p.small.soft", null, cut(pathOf(c).join(" > "), 2000)),
		el("dl", null, [["time in a call", between(c.low_ns, c.high_ns, duration)], ["in none of the functions that it calls", between(c.own_low_ns, c.own_high_ns, duration)],
			["share of the variance", shareText(c)], ["seen in", `${count(c.n_calls)} calls`]].map(([k, v]) => [el("dt", null, k), el("dd", null, v)]))] :
		[note("Select a function to see its callers and its own time.")]);
}
const shareText = c => finite(c.share_low) && finite(c.share_high) ? between(Math.min(1, c.share_low), Math.min(1, c.share_high), percent) : "not known";
function select(c, quietly) {
	view.selected = c;
	address.set(c ? "c=" + c.id : "", quietly);
	if (c && !shown.includes(c)) showsAll = true;
	redraw();
	detail();
}
function row(c) {
	return el("tr", { "data-context": c.id, class: view.selected === c ? "on" : null },
		el("td.where", { style: `padding-left:${8 + Math.min(24, c.depth) * 12}px` },
			el("button.link", { type: "button", title: cut(pathOf(c).join(" > "), 500), onclick: () => select(c) }, cut(c.name, 120)),
			el("span.small.soft", null, " " + place(c))),
		el("td.num.bounds", null, between(c.low_ns, c.high_ns, duration), boundBar(c.low_ns, c.high_ns, whole.high_ns)),
		el("td.num.bounds", null, shareText(c), finite(c.share_high) ? boundBar(c.share_low, c.share_high, 1) : null),
		el("td.num", null, count(c.n_calls)));
}
function contextList() {
	const box = byId("contexts"), body = el("tbody");
	if (!whole) { box.append(note("No call was seen from its begin to its end.")); return; }
	const more = el("button", { type: "button", onclick: () => {
		if (shown.length > drawn) drawn += STEP; else showsAll = true;
		redraw();
	} });
	redraw = () => {
		shown = showsAll ? ordered : ordered.filter(c => c === whole || counts(c));
		while (view.selected && shown.indexOf(view.selected) >= drawn) drawn += STEP;
		body.replaceChildren(...shown.slice(0, drawn).map(row));
		for (const r of body.children) r.classList.toggle("hit", view.hits.has(+r.dataset.context));
		const left = ordered.length - Math.min(drawn, shown.length);
		more.hidden = !left;
		more.textContent = `Show more of ${count(ordered.length)}`;
	};
	box.append(el("div.card", null, el("div.scroll", null, el("table.contexts", null,
		el("thead", null, el("tr", null, el("th", null, "function"), el("th.num", null, "time in a call"), el("th.num", null, "share of the variance"), el("th.num", null, "seen in calls"))), body)),
	el("p", null, more), el("p.small.soft", null, "Functions beneath their callers, those that may vary most first. Dark: at least; light: at most.")),
	el("div.card", { id: "detail" }));
	redraw();
	detail();
}
function trust() {
	byId("trust").append(el("div.card", null, el("dl", null, [
		["calls seen", count(R.n_calls)], ["of these used, from begin to end", count(R.n_used)],
		["left out: cut by the end of a window or of the recording", count(R.n_cut)],
		["left out: may be several calls each", count(R.n_unsure)],
		["windows of time with stacks", R.n_windows ? count(R.n_windows) : "none: stacks throughout"]
	].map(([k, v]) => [el("dt", null, k), el("dd", null, v)]))),
	el("p.small.soft", null, "Calls are inferred from stacks: begin and end of each lie between two events, and so does all that is in it. A share of the variance is that of a function's time " +
		"with all that it calls, against that of the whole call: shares of functions that vary together do not add up."));
	sayMade(`Made by vprof ${data.vprof} from ${cut(data.title, 200)}.`);
}
