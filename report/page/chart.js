/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What charts share: lines, labels and the axis of values. Coordinates are those of the chart's frame:
 * W and H with margins l, r, t, b. */
const shortDuration = ns => duration(ns).replace(/\.0+ /, " ");
function addLine(svg, kind, x1, x2, y1, y2) {
	return svg.append("line").attr("class", kind).attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2);
}
function addText(svg, kind, x, y, anchor, text) {
	return svg.append("text")
		.attr("class", kind)
		.attr("x", x)
		.attr("y", y)
		.attr("text-anchor", anchor)
		.text(text);
}
/* A line across the chart and a label on its left for each tick. */
function valueAxis(svg, frame, y, ticks, say) {
	for (const t of ticks) {
		addLine(svg, "grid", frame.l, frame.W - frame.r, y(t), y(t));
		addText(svg, "soft", frame.l - 6, y(t) + 4, "end", say(t));
	}
}
/* Latencies 1, 2 and 5 of each decade, those that have room for a label. */
function latencyAxis(svg, frame, x) {
	const [low, high] = x.domain(), foot = frame.H - frame.b;
	let last = -100;
	for (const t of d3.merge(d3.range(0, 12).map(e => [1, 2, 5].map(k => k * 10 ** e)))) {
		if (t < low || t > high || x(t) - last <= 52) continue;
		last = x(t);
		addText(svg, "soft", last, frame.H - 14, "middle", shortDuration(t));
		addLine(svg, "markline", last, last, foot, foot + 4).attr("stroke-dasharray", "0");
	}
}
