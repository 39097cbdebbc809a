/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cumulative distributions of the requests' latencies and of each tier's visits, on one scale of time. */
function drawCdf(box, times, low, high) {
	const width = 340, height = 150, log = scale(Math.log(low), Math.log(high), 34, width - 14), x = t => log(Math.log(t)), y = scale(0, 1, height - 24, 8);
	const svg = picture(box, width, height, "Cumulative distribution"), points = times.cdf_ns.map((t, i, all) => [x(Math.max(low, t)), y(i / (all.length - 1))]);
	for (const p of [0, 0.5, 1]) {
		svg.append("line").attr("class", "guide").attr("x1", 34).attr("x2", width - 14).attr("y1", y(p)).attr("y2", y(p));
		svg.append("text").attr("class", "soft").attr("x", 30).attr("y", y(p) + 4).attr("text-anchor", "end").text(percent(p).replace(" %", ""));
	}
	for (let t = Math.pow(10, Math.ceil(Math.log10(low))); t <= high; t *= 10) {
		svg.append("line").attr("class", "guide").attr("x1", x(t)).attr("x2", x(t)).attr("y1", 8).attr("y2", height - 24);
		svg.append("text").attr("class", "soft").attr("x", x(t)).attr("y", height - 8).attr("text-anchor", "middle").text(duration(t).replace(/\.0+/, ""));
	}
	svg.append("path").attr("class", "line").attr("d", "M" + points.map(p => p.map(v => v.toFixed(1)).join()).join("L"));
}
function responseTimes() {
	const box = byId("times"), all = [["requests", R.latency], ...tiers.map(t => [t.name, t.response])].filter(([, l]) => l && l.n);
	const values = all.flatMap(([, l]) => l.cdf_ns).filter(t => t > 0);
	if (!values.length) {
		box.append(note("No request was found of which all is known."));
		return;
	}
	const low = Math.min(...values), high = Math.max(...values, low * 10), grid = el("div.cdfs");
	for (const [name, l] of all.slice(0, 40)) {
		const card = el("div.card.cdf", { "data-tier": name }, el("h3", null, cut(name, 120)));
		drawCdf(card, l, low, high);
		card.append(el("p.small.soft", null, `${count(l.n)}: p50 ${duration(l.p50_ns)}, p90 ${duration(l.p90_ns)}, p99 ${duration(l.p99_ns)}, longest ${duration(l.max_ns)}`));
		grid.append(card);
	}
	box.append(grid);
}
