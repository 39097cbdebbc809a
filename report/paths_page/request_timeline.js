/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One request in time: a row for each visit, below its caller; the dashed box is the call as the caller saw it, what is filled
 * the visit, and the thin bar before it the time for which the request had come and was not read yet. Requests are the slowest and some of all latencies. */
const rowHeight = 24, nameWidth = 230;
function rowsOf(node, depth, out) {
	out.push({ visit: node.visit, depth });
	for (const c of node.calls) rowsOf(c, depth + 1, out);
	return out;
}
function drawRequest(box, request) {
	const rows = rowsOf(treeOf(request), 0, []), width = 1080, from = Math.min(...request.visits.map(v => v.from_ns));
	const end = Math.max(...request.visits.map(v => v.from_ns + v.latency_ns), from + 1), x = scale(from, end, nameWidth, width - 70);
	const svg = picture(box, width, rows.length * rowHeight + 26, "Request in time");
	for (const t of steps(end - from).map(s => from + s)) {
		svg.append("line").attr("class", "axis").attr("x1", x(t)).attr("x2", x(t)).attr("y1", 18).attr("y2", rows.length * rowHeight + 24);
		svg.append("text").attr("class", "soft").attr("x", x(t)).attr("y", 12).attr("text-anchor", "middle").text(duration(t - from));
	}
	rows.forEach((r, i) => {
		const v = r.visit, y = 22 + i * rowHeight, bar = (t, length) => [x(t), Math.max(1, x(t + Math.max(0, length)) - x(t))];
		const g = svg.append("g").attr("class", `row ${colour(v.tier)}${isHit(v.tier) ? " hit" : ""}`);
		const [cx, cw] = bar(v.from_ns, v.latency_ns);
		g.append("text").attr("x", 4 + 12 * Math.min(r.depth, 8)).attr("y", y + 14).text(cut(v.tier, 28 - Math.min(r.depth, 8)));
		g.append("rect").attr("class", "called").attr("x", cx).attr("width", cw).attr("y", y + 2).attr("height", rowHeight - 6);
		if (finite(v.served_from_ns)) {
			const [sx, sw] = bar(v.served_from_ns, v.served_ns), queued = Math.min(v.request_queued_ns || 0, v.served_from_ns - v.from_ns);
			if (queued > 0) {
				const [qx, qw] = bar(v.served_from_ns - queued, queued);
				g.append("rect").attr("class", "queued").attr("x", qx).attr("width", qw).attr("y", y + 8).attr("height", rowHeight - 18);
			}
			g.append("rect").attr("class", "served").attr("x", sx).attr("width", sw).attr("y", y + 4).attr("height", rowHeight - 10);
		}
		g.append("text").attr("class", "soft").attr("x", Math.min(cx + cw, width - 68) + 4).attr("y", y + 14).text(duration(v.latency_ns));
		g.tip(`${v.tier}\n${duration(v.latency_ns)}` + (finite(v.served_ns) ? `, served in ${duration(v.served_ns)} by ${v.process} (${v.pid}/${v.tid})` : ", not recorded there") +
			(v.request_queued_ns > 0 ? `\nthe request had been there for ${duration(v.request_queued_ns)} before it was read` : "") +
			(v.reply_queued_ns > 0 ? `\nthe reply had been there for ${duration(v.reply_queued_ns)} before it was read` : "") +
			(v.how ? `\nlinked to its caller: ${v.how} (${percent(v.confidence)})` : "") + `\n${count(v.request_bytes)} bytes asked, ${count(v.reply_bytes)} replied`);
	});
}
function showRequest(request, scroll) {
	const box = byId("waterfall"), i = requests.indexOf(request);
	view.request = request;
	box.replaceChildren();
	if (!request) return;
	byId("which").value = i;
	box.append(el("p.small", null, `${duration(request.latency_ns)}, from ${request.client}, ${request.state}` + (request.confidence < 1 ? ` (${percent(request.confidence)})` : "")));
	drawRequest(box, request);
	box.append(...openedVisits(request));
	if (scroll) byId("requests").scrollIntoView({ block: "start" });
}
function stepRequest(step) {
	if (requests.length) showRequest(requests[Math.max(0, Math.min(requests.length - 1, requests.indexOf(view.request) + step))]);
}
function requestTimeline() {
	const box = byId("requests");
	if (!requests.length) {
		box.append(note("No request was found of which all is known."));
		return;
	}
	box.append(el("div.bar-row", null, el("button", { type: "button", onclick: () => stepRequest(-1) }, "Slower"), el("button", { type: "button", onclick: () => stepRequest(1) }, "Faster"),
		el("select", { id: "which", "aria-label": "Request", onchange: e => showRequest(requests[+e.target.value]) },
			requests.map((q, i) => el("option", { value: i }, `${duration(q.latency_ns)}  ${cut(q.path, 90)}`)))),
	el("div.card.waterfall", { id: "waterfall" }));
	showRequest(requests[0]);
}
