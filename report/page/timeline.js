/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical paths of single intervals in time. shown.example is the interval drawn; shown.view is the part
 * of it that is drawn, [from, to] in ns since its begin, or null for all of it. */
const TIMELINE = { W: 1120, l: 150, r: 8 };
const pieceKind = {
	run: "function", wait: "wait", kernel: "site", io: "io", preempted: "preempted", queued: "queued"
};
const pieceText = {
	wait: "blocked in ", kernel: "in the kernel, in ", io: "blocked or in the kernel, in ",
	preempted: "preempted in "
};
const whyNames = { slowest: "slowest", p99: "99 %", p90: "90 %", median: "median", fastest: "fastest" };
/* An example with what happened in it. */
function exampleOf(x) {
	const all = R.pieces.slice(x.first_piece, x.first_piece + x.n_pieces);
	return { ...x, pieces: all.filter(p => p.kind !== "call"), calls: all.filter(p => p.kind === "call") };
}
const threadName = t => cut((R.threads[t] || { name: "thread" }).name, 24);
function timelines(box) {
	const list = (R.examples || []).map(exampleOf);
	box.append(el("h3", null, "Critical path of single intervals"));
	if (!list.length) { box.append(missing("Timelines of the slowest and median intervals")); return; }
	const holder = el("div.times"), text = el("p.small.soft", { "aria-live": "polite" }),
		shown = { example: list[0], view: null };
	const draw = () => {
		drawTimeline(holder, shown, "clip" + list.indexOf(shown.example));
		text.textContent = exampleText(shown.example);
	};
	box.append(el("div.card", null, timelineBar(list, shown, draw), text, holder));
	draw();
}
function zoomTime(shown, factor) {
	const end = shown.example.latency_ns, [from, to] = shown.view || [0, end];
	const middle = (from + to) / 2, half = (to - from) / 2 * factor;
	shown.view = factor > 1 && half * 2 >= end ?
		null :
		[Math.max(0, middle - half), Math.min(end, middle + half)];
}
function shiftTime(shown, part) {
	if (!shown.view) return;
	const [from, to] = shown.view;
	const by = Math.max(-from, Math.min(shown.example.latency_ns - to, (to - from) * part));
	shown.view = [from + by, to + by];
}
/* The controls above the timeline: which interval, and what part of it. */
function timelineBar(list, shown, draw) {
	const take = i => {
		if (i < 0 || i >= list.length) return;
		pick.value = i;
		shown.example = list[i];
		shown.view = null;
		draw();
	};
	const pick = el("select", { id: "example", "aria-label": "Interval", onchange: () => take(+pick.value) },
		list.map((x, i) => el("option", { value: i },
			`${whyNames[x.why] || x.why}${x.why === "slowest" ? " " + x.rank : ""}: ` +
				`${duration(x.latency_ns)}${x.type ? ", " + cut(x.type, 30) : ""}`)));
	const button = (text, label, act) => el("button",
		{ type: "button", "aria-label": label, title: label, onclick: act }, text);
	const change = (text, label, act) => button(text, label, () => { act(); draw(); });
	const step = d => take(list.indexOf(shown.example) + d);
	return el("div.bar-row", null, button("‹", "Interval before", () => step(-1)), pick,
		button("›", "Next interval", () => step(1)), el("span.right"),
		change("+", "Zoom in", () => zoomTime(shown, 0.5)),
		change("−", "Zoom out", () => zoomTime(shown, 2)),
		change("←", "Earlier", () => shiftTime(shown, -0.4)),
		change("→", "Later", () => shiftTime(shown, 0.4)),
		change("All", "Whole interval", () => { shown.view = null; }));
}
function exampleText(x) {
	return `${whyNames[x.why] || x.why}: ${duration(x.latency_ns)}, begun ${duration(x.at_ns)} after the ` +
		`start of the trace${x.type ? ", type " + cut(x.type, 100) : ""}; ${count(x.pieces.length)} pieces` +
		(x.n_left_out ? `; ${count(x.n_left_out)} short calls and pieces are left out` : "") +
		". Orange: blocked, green: in the kernel, yellow-green: one of the two, grey: what others ran " +
		"meanwhile, below: the measured calls.";
}
/* A lane for each thread, high enough for its calls: [thread, y] in order, and where the lanes end. */
function threadLanes(x) {
	const threads = new Set([
		...x.pieces.filter(p => p.kind !== "queued").map(p => p.thread), ...x.calls.map(c => c.thread)
	]);
	const top = new Map();
	let y = 46;
	for (const t of threads) {
		top.set(t, y);
		y += (1 + (d3.max(x.calls.filter(c => c.thread === t), c => c.depth + 1) || 0)) * 20 + 12;
	}
	return [top, y];
}
function drawTimeline(holder, shown, clip) {
	const example = shown.example, f = TIMELINE, [top, end] = threadLanes(example);
	const x = d3.scaleLinear()
		.domain(shown.view || [0, example.latency_ns])
		.range([f.l, f.W - f.r])
		.clamp(true);
	holder.textContent = "";
	const svg = svgAt(
		holder, f.W, end + 26, `Critical path of an interval of ${duration(example.latency_ns)}`);
	svg.append("clipPath")
		.attr("id", clip)
		.append("rect")
		.attr("x", f.l)
		.attr("width", f.W - f.r - f.l)
		.attr("height", end + 26);
	addText(svg, "lane", 8, 28, null, "critical path");
	for (const [t, y] of top) addText(svg, "lane", 8, y + 14, null, threadName(t));
	drawExample(svg.append("g").attr("clip-path", `url(#${clip})`), example, top, x);
	for (const t of x.ticks(8)) {
		addLine(svg, "markline", x(t), x(t), 12, end + 4).attr("stroke-opacity", 0.25);
		addText(svg, "lane", x(t), end + 18, "middle", duration(t));
	}
}
function pieceName(p) {
	return p.kind === "run" ? "runs in " + threadName(p.thread) :
		pieceText[p.kind] ? pieceText[p.kind] + p.name :
			"queued";
}
function pieceTip(p) {
	return `${pieceName(p)}${p.object ? " on " + p.object : ""}\n${duration(p.to_ns - p.from_ns)}, ` +
		`from ${duration(p.from_ns)} to ` +
		`${duration(p.to_ns)}${p.is_blame ? "\nrun by others while the interval waited" : ""}`;
}
/* The critical path, the pieces on their threads, and beneath these the measured calls. */
function drawExample(g, example, top, x) {
	drawPieces(g, example.pieces.filter(p => !p.is_blame), x, {
		y: () => 14,
		height: 20,
		kind: p => pieceKind[p.kind],
		name: pieceName,
		tip: pieceTip
	});
	drawPieces(g, example.pieces.filter(p => p.kind !== "queued"), x, {
		y: p => top.get(p.thread),
		height: 18,
		kind: p => p.kind === "run" && p.is_blame ? "body" : pieceKind[p.kind],
		name: p => p.kind === "run" ? p.is_blame ? "others" : "runs" : p.name,
		tip: pieceTip
	});
	drawPieces(g, example.calls, x, {
		y: c => top.get(c.thread) + 20 * (c.depth + 1),
		height: 18,
		kind: c => c.is_blame ? "body" : "function",
		name: c => c.name,
		tip: c => `${c.name}\n${duration(c.to_ns - c.from_ns)}`
	});
}
/* A rectangle with its name for each piece in view and wide enough to be seen. */
function drawPieces(g, list, x, as) {
	const [from, to] = x.domain(), room = (TIMELINE.W - TIMELINE.l) / (to - from);
	const e = g.append("g")
		.selectAll("g")
		.data(list.filter(p => p.to_ns >= from && p.from_ns <= to && (p.to_ns - p.from_ns) * room > 0.25))
		.join("g");
	const width = p => x(p.to_ns) - x(p.from_ns);
	e.append("rect")
		.attr("class", p => "piece k-" + as.kind(p))
		.attr("x", p => x(p.from_ns))
		.attr("width", p => Math.max(0.6, width(p)))
		.attr("y", as.y)
		.attr("height", as.height)
		.attr("rx", 1.5);
	e.append("text")
		.attr("x", p => x(p.from_ns) + 4)
		.attr("y", p => as.y(p) + as.height - 5)
		.text(p => {
			const letters = Math.floor((width(p) - 6) / 6.9);
			return letters > 2 ? cut(as.name(p), letters) : "";
		});
	tipped(e, as.tip);
}
