/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How variable: tiles, histogram, over time, types. */
function summary() {
	const box = byId("head"),
		top = factors.filter(f => f.kind === "variance").sort((a, b) => a.id - b.id)[0];
	setTitle("vprof: " + cut(R.interval || "interval", 60) + ", run " + R.run);
	box.append(el("h1", null, R.interval || "interval",
		el("span.soft", { style: "font-weight:400" },
			"  run " + R.run + (data.date ? ", " + data.date : ""))));
	if (R.inconclusive)
		box.append(el("p.alert.bad", null, el("b", null, "Inconclusive. "),
			"This run has too little data to rank anything: " + (R.warnings[0] || "")));
	if (!nodes.length || !finite(R.mean_ns) || !R.n_complete) return;
	if (R.effect >= 0.05)
		box.append(el("p.alert", null,
			el("b", null,
				`Recording slowed the intervals by ${percent(R.effect)}${rangeOf(R.effect_low, R.effect_high)}. `),
			(finite(R.cost_scale) ? "Shares and means are without it, within their bounds" :
				"Shares are those of the slowed program") + "; least sure are functions called often."));
	const lead = el("p.lead", null, `${count(R.n_complete)} intervals took `,
		el("b", null, duration(R.mean_ns)), " on average, give or take ", el("b", null, duration(R.sd_ns)),
		`; one in a hundred took ${duration(R.p99_ns)} or more.`);
	const cause = R.causes[0];
	if (cause && !R.inconclusive)
		lead.append(" The first cause: ", el("b", null, cut(cause.sentence, 300)),
			finite(cause.if_constant) ? `; if it were constant, the variance would change by ${changeOf(cause.if_constant)}` +
				`${inBrackets(minus(cause.if_constant_high), minus(cause.if_constant_low))}.` : ".");
	else if (top && !R.inconclusive)
		lead.append(" ", el("b", null, percent(top.share)), " of the variance is in ",
			el("b", null, cut(top.name, 80)),
			top.is_blame ? ", run by others while the interval waited." : ".");
	const culprits = (R.causes.length ? R.causes : factors).filter(f => f.verdict === "culprit").map(f => f.name);
	if (culprits.length)
		lead.append(
			" Culprits, by verdict: ", el("b", null, culprits.slice(0, 4).map(s => cut(s, 60)).join(", ")),
			culprits.length > 4 ? ` and ${count(culprits.length - 4)} more.` : ".");
	box.append(lead, ...warningsBeside());
	box.append(otherAnswers() || "");
}
/* Beside the answer; all of them stand at the end as well. */
function warningsBeside() {
	const list = R.inconclusive ? R.warnings.slice(1) : R.warnings, shown = list.slice(0, 2);
	return [...shown.map(w => el("p.alert", null, w)),
		list.length > shown.length ? el("p.small", null, el("a", { href: "#trust" }, `${count(list.length - shown.length)} more warnings`)) : ""];
}
function tiles() {
	const t = (name, value, more) => el("div.tile", null, el("span", null, name), el("b", null, value),
		more ? el("span", null, more) : null);
	const bounds = finite(R.mean_low) ? `${duration(R.mean_low)} … ${duration(R.mean_high)}` : null;
	return el("div.tiles", null, t("mean", duration(R.mean_ns), bounds),
		t("standard deviation", duration(R.sd_ns),
			finite(R.mean_ns) && R.mean_ns > 0 ? percent(R.sd_ns / R.mean_ns) + " of the mean" : null),
		t("median", duration(R.p50_ns)), t("90 %", duration(R.p90_ns)), t("99 %", duration(R.p99_ns)),
		t("99.9 %", duration(R.p999_ns)),
		t("slowest", duration(R.max_ns),
			finite(R.slowest_share) ? percent(R.slowest_share) + " of the variance" : null));
}
/* The histogram: all intervals, and in front of them those of one type. */
const HISTOGRAM = { W: 560, H: 270, l: 52, r: 14, t: 26, b: 34 };
function histogram(box) {
	const all = (R.histogram || []).filter(b => b.type === 0);
	if (!all.length) { box.append(missing("Histogram")); return; }
	const holder = el("div"), shown = { type: 0, scale: "linear" };
	const draw = () => drawHistogram(holder, all, shown);
	box.append(histogramBar(shown, draw), holder);
	draw();
}
function histogramBar(shown, draw) {
	const kinds =
		[...new Set(R.histogram.filter(b => b.type > 0).map(b => b.type))].filter(t => R.types[t - 1]);
	const scale = choice("Count axis", [["linear", "count"], ["log", "log count"]], shown.scale, v => {
		shown.scale = v;
		draw();
	});
	const type = kinds.length > 1 ?
		el("select", {
			"aria-label": "Type of interval",
			onchange: () => {
				shown.type = +type.value;
				draw();
			}
		},
			el("option", { value: 0 }, "all types"),
			kinds.map(t => el("option", { value: t }, cut(R.types[t - 1].name, 40)))) :
		null;
	return el("div.bar-row", null, el("b", null, "Latencies"), el("span.right"), scale, type);
}
function histogramScales(all, scale) {
	const low = all[0].from_ns, high = all[all.length - 1].to_ns, most = d3.max(all, b => b.n), f = HISTOGRAM;
	const x = d3.scaleLog().domain([Math.max(low, 1), Math.max(high, low + 1, 2)]).range([f.l, f.W - f.r]);
	const y = (scale === "log" ? d3.scaleLog().domain([0.7, most]) : d3.scaleLinear().domain([0, most]))
		.range([f.H - f.b, f.t])
		.nice();
	return [x, y];
}
function drawHistogram(holder, all, { type, scale }) {
	holder.textContent = "";
	const [x, y] = histogramScales(all, scale);
	const svg = svgAt(holder, HISTOGRAM.W, HISTOGRAM.H,
		`Histogram of ${count(R.n_complete)} latencies from ${duration(R.min_ns)} to ${duration(R.max_ns)}, ` +
			`median ${duration(R.p50_ns)}, 99 % below ${duration(R.p99_ns)}`);
	valueAxis(svg, HISTOGRAM, y,
		y.ticks(5).filter(v => scale !== "log" || Number.isInteger(Math.log10(v))), d3.format("~s"));
	drawBuckets(svg, all, x, y, type ? "fill2 bucket" : "fill bucket");
	if (type) drawBuckets(svg, R.histogram.filter(b => b.type === type), x, y, "fill");
	latencyAxis(svg, HISTOGRAM, x);
	drawPercentiles(svg, x);
	tipped(svg.selectAll("rect"),
		b => `${duration(b.from_ns)} to ${duration(b.to_ns)}\n${count(b.n)} intervals ` +
			`(${percent(b.n / R.n_complete)})`);
}
function drawBuckets(svg, list, x, y, kind) {
	const left = b => x(Math.max(b.from_ns, 1));
	svg.append("g")
		.selectAll("rect")
		.data(list)
		.join("rect")
		.attr("class", kind)
		.attr("x", b => left(b) + 0.3)
		.attr("width", b => Math.max(0.8, x(Math.max(b.to_ns, 2)) - left(b) - 0.6))
		.attr("y", b => y(b.n))
		.attr("height", b => Math.max(0, HISTOGRAM.H - HISTOGRAM.b - y(b.n)));
}
function drawPercentiles(svg, x) {
	const f = HISTOGRAM;
	let free = -100;
	for (const [name, ns] of [
		["median", R.p50_ns], ["90 %", R.p90_ns], ["99 %", R.p99_ns], ["99.9 %", R.p999_ns]]) {
		const px = x(Math.max(ns, 1));
		addLine(svg, "markline", px, px, f.t - 4, f.H - f.b);
		if (px - free <= 46) continue;
		addText(svg, null, px, f.t - 9, "middle", name);
		free = px;
	}
}
/* Over time: median, 99th percentile and slowest of each period of the run. */
const OVER_TIME = { W: 560, H: 270, l: 58, r: 14, t: 26, b: 34 };
function overTime(box) {
	const list = R.periods || [], f = OVER_TIME;
	box.append(el("div.bar-row", null, el("b", null, "Over time")));
	if (!list.length) { box.append(missing("Latency over time")); return; }
	const x = d3.scaleLinear().domain([0, d3.max(list, p => p.to_ns)]).range([f.l, f.W - f.r]);
	const y = d3.scaleLog()
		.domain([
			Math.max(1, d3.min(list, p => p.p50_ns) / 1.3),
			Math.max(2, d3.max(list, p => p.max_ns) * 1.1)
		])
		.range([f.H - f.b, f.t]);
	const svg = svgAt(
		box, f.W, f.H, `Median, 99th percentile and slowest latency in ${list.length} periods of the run`);
	valueAxis(svg, f, y,
		y.ticks().filter(v => Number.isInteger(Math.round(Math.log10(v) * 1e6) / 1e6)), shortDuration);
	for (const t of x.ticks(6)) addText(svg, "soft", x(t), f.H - 14, "middle", t ? shortDuration(t) : "0");
	drawPeriods(svg, list, x, y);
	box.append(
		el("div.legend", null, el("span", null, el("i", { style: "background:var(--bar)" }), "median"),
			el("span", null, el("i", { style: "background:var(--bar2)" }), "up to the 99th percentile"),
			el("span", null, el("i", { style: "background:var(--pos);border-radius:50%" }), "slowest")));
}
function drawPeriods(svg, list, x, y) {
	const g = svg.append("g").selectAll("g").data(list).join("g");
	const bar = kind => g.append("rect")
		.attr("class", kind)
		.attr("x", p => x(p.from_ns))
		.attr("width", p => Math.max(1, x(p.to_ns) - x(p.from_ns) - 0.5));
	bar("fill2").attr("y", p => y(p.p99_ns)).attr("height", p => Math.max(1.5, y(p.p50_ns) - y(p.p99_ns)));
	bar("fill").attr("y", p => y(p.p50_ns) - 1).attr("height", 2.5);
	g.append("circle")
		.attr("cx", p => (x(p.from_ns) + x(p.to_ns)) / 2)
		.attr("cy", p => y(p.max_ns))
		.attr("r", 1.7)
		.attr("fill", "var(--pos)");
	tipped(g,
		p => `${duration(p.from_ns)} to ${duration(p.to_ns)} of the run: ${count(p.n)} intervals\nmedian ` +
			`${duration(p.p50_ns)}, 99 % ${duration(p.p99_ns)}, slowest ${duration(p.max_ns)}`);
}
/* Bounds that read the same say no more than the share itself. */
function betweenBounds() {
	if (!finite(R.between_low)) return "";
	const low = percent(R.between_low), high = percent(R.between_high);
	return low === high ? "" : ` (${low} to ${high})`;
}
function types(box) {
	if (R.types.length < 2) return;
	const shown = R.types.slice(0, 12), has = finite(R.types[0].between_share),
		most = d3.max(R.types, t => t.mean_ns + t.sd_ns) || 1;
	box.append(el("div.card", null,
		el("h3", { style: "margin-top:0" },
			`${percent(R.between_types)}${betweenBounds()} of the variance lies between types, ` +
				`${percent(1 - R.between_types)} within`),
		el("div.scroll", null,
			el("table", null,
				el("thead", null,
					el("tr", null, el("th", null, "type"), el("th.num", null, "intervals"),
						el("th.num", null, "mean"), el("th.num", null, "sd"), el("th", null, "mean and sd"),
						has ? [el("th.num", null, "adds between"), el("th.num", null, "adds within")] :
							null)),
				el("tbody", null, shown.map(t => typeRow(t, most, has))))),
		R.types.length > shown.length ?
			el("p.small.soft", null, `and ${count(R.types.length - shown.length)} more types`) :
			null));
}
function typeRow(t, most, has) {
	/* From a standard deviation below the mean, but not below 0, to one above. */
	const from = Math.max(0, t.mean_ns - t.sd_ns),
		extent = `left:${100 * from / most}%;width:${100 * (t.mean_ns + t.sd_ns - from) / most}%`;
	return el("tr", null, el("td", null, el("span.name", { title: cut(t.name, 300) }, t.name)),
		el("td.num", null, count(t.n)), el("td.num", null, duration(t.mean_ns)),
		el("td.num", null, duration(t.sd_ns)),
		el("td", { style: "min-width:160px" },
			el("div.meter", null, el("i", { style: `width:${100 * t.mean_ns / most}%` }),
				el("u", { style: extent }))),
		has ? [el("td.num", null, percent(t.between_share)), el("td.num", null, percent(t.within_share))] :
			null);
}
function work(box) {
	if (!(R.work || []).length) return;
	box.append(el("div.card", null,
		el("h3", { style: "margin-top:0" },
			`${percent(R.work_share)} of the variance follows the amount of work: inherent`),
		el("div.scroll", null,
			el("table", null,
				el("thead", null,
					el("tr", null, ["counter", "per interval", "sd", "per unit", "r",
						"share"].map((h, i) => el(i ? "th.num" : "th", null, h)))),
				el("tbody", null,
					R.work.map(w => el("tr", null, el("td", null, el("span.name", null, w.name)),
						el("td.num", null, count(+w.mean.toPrecision(4))),
						el("td.num", null, count(+w.sd.toPrecision(4))),
						el("td.num", null, duration(w.ns_per_unit)),
						el("td.num", null, finite(w.r) ? w.r.toFixed(2) : "-"),
						el("td.num", null, percent(w.share)))))))));
}
function spread() {
	const box = byId("spread");
	if (!R.n_complete) {
		box.append(note("No interval is complete in this run. " + (R.warnings[0] || "")));
		return;
	}
	box.append(tiles());
	const left = el("div.card"), right = el("div.card");
	box.append(el("div.two", null, left, right));
	histogram(left);
	overTime(right);
	types(box);
	work(box);
	timeSpent(box);
}
/* What the mean was spent on. */
function timeSpent(box) {
	const parts = [
		["running", R.running_share], ["in the kernel", R.kernel_share || NaN],
		["in I/O (blocked or in the kernel)", R.io_share || NaN], ["blocked", R.blocked_share],
		["queued", R.queued_share], ["preempted", R.preempted_share]
	].filter(p => finite(p[1]));
	if (parts.length)
		box.append(el("p", null,
			"Of the mean: " +
				parts
					.map(([n, s]) => `${percent(s)} ` +
						`${n === "running" && !finite(R.preempted_share) ? "running or preempted" : n}`)
					.join(", ") +
				"."));
}
