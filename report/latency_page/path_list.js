/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths by what they cost, or cost more than in the base run, each between its bounds. */
const verdictWords = { settled: "", unbounded: "bounds too wide", varies: "varies as much within the runs" };
const boundsAdvice = "More events (--spacing 1ns, --timer 4000; with windows of time a longer recording, or --budget 0) make them narrower, probes in these functions exact (vprof init --from RUN).";
function pathWords(p) {
	const names = p.steps.map(s => s.c), kernel = names.findIndex(c => c.f.layer === "kernel");
	const start = names.findIndex(c => !/^(_start|__libc_start_.*|start_thread|_?_?clone3?)$/.test(c.f.name));
	return names.slice(Math.max(0, start)).map((c, i) => (i + Math.max(0, start) === kernel ? "[kernel] " : "") + c.f.name);
}
function pathRow(p) {
	const words = pathWords(p), x = p.end.new, all = costOfAll("new");
	const shown = words.length > 9 ? [words[0], "…", ...words.slice(-8)] : words;
	return el("tr", { "data-path": p.id },
		el("td.num", null, count(p.id + 1)),
		el("td.where", null, el("button.link", { type: "button", onclick: () => { select(p.end); } }, cut(shown[shown.length - 1], 120)),
			el("div.small.rest", { title: words.join(" > ") }, cut(shown.slice(0, -1).join(" > "), 400)),
			p.n_whole ? el("div.small.rest", null, `bounds: of ${cut(words[p.n_whole - 1], 120)} with all that it calls`) : null,
			p.verdict !== "settled" ? el("span.badge.warn", { title: p.verdict === "unbounded" ? boundsAdvice : null }, verdictWords[p.verdict]) : null),
		el("td.num", null, isComparison ? between(p.low_ns, p.high_ns, duration) : between(p.low_ns / all, p.high_ns / all, percent), boundBar(p.low_ns, p.high_ns, all)),
		el("td.num", null, x ? between(x.calls_low, x.calls_high, count) : "-"),
		el("td.num", null, x ? between(x.call_low_ns, x.call_high_ns, duration) : "-"),
		isComparison ? el("td.num", null, p.end.base ? between(p.end.base.call_low_ns, p.end.base.call_high_ns, duration) : "not seen") : null);
}
function pathList() {
	const box = byId("paths"), body = el("tbody");
	const heads = ["", "path", isComparison ? `more ${unitText}` : "own time", "calls", "mean of a call", isComparison ? "was" : null].filter(h => h !== null);
	let shown = 10;
	const more = el("button", { type: "button", onclick: () => { shown += 50; fill(); } });
	const fill = () => {
		body.replaceChildren(...paths.slice(0, shown).map(pathRow));
		more.hidden = shown >= paths.length;
		more.textContent = `Show more of ${count(paths.length)}`;
		mark();
	};
	const mark = () => { for (const row of body.children) row.classList.toggle("on", paths[+row.dataset.path].end === view.selected); };
	if (!paths.length) { box.append(note(isComparison ? "No path costs more than in the base run." : "No function was seen at work.")); return; }
	fill();
	listeners.push(mark);
	box.append(el("div.card", null, el("div.scroll", null, el("table.pathlist", null,
		el("thead", null, el("tr", null, heads.map((h, i) => el(i === 1 ? "th" : "th.num", null, h)))), body)), el("p", null, more),
	el("p.small.soft", null, isComparison ? `Where functions cost more in the new run, ${unitText}: settled differences first. ${R.unit_path ? `Requests are received by ${R.unit_path}. ` : ""}${R.ratio !== 1 ? `Most functions cost ${R.ratio.toPrecision(3)} times as much in the new run: these differences are beyond that.` : ""}` :
		"Functions in their contexts by own time: what neither a function that they called nor idling accounts for. Dark: at least; light: at most.")));
}
