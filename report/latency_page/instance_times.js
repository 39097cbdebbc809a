/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slowest calls of the selected context on the recording's time, by thread: dark from when it was first seen to when
 * it was last seen, light from the event before to the event after. */
function callLine(place, c, list) {
	const width = Math.max(280, Math.floor(place.clientWidth) || 900), left = Math.min(170, width * 0.25), all = R.new.duration_ns || 1;
	const threads = [...new Set(list.map(i => i.thread))].sort((a, b) => a - b), at = t => left + (width - left - 8) * t / all;
	const height = threads.length * 24 + 24;
	const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "When the slowest calls were; the same is in the table below" });
	threads.forEach((t, row) => svg.append(draw("text", { x: left - 8, y: row * 24 + 15, "text-anchor": "end" }, cut(R.threads[t] ? R.threads[t].name : String(t), Math.floor(left / 7)))));
	for (const i of list) {
		const y = threads.indexOf(i.thread) * 24 + 3, a = at(i.before_ns), b = at(i.after_ns), x = at(i.first_ns);
		const text = `${c.f.name}: ${between(i.last_ns - i.first_ns, i.after_ns - i.before_ns, duration)}` + (i.is_cut ? ", cut by the recording's end" : "");
		for (const [kind, from, to] of [["may", a, b], ["sure", x, at(i.last_ns)]])
			svg.append(draw("rect", { class: kind, x: from.toFixed(1), y, width: Math.max(1, to - from).toFixed(1), height: 16,
				onmousemove: e => showTip(text, e.clientX, e.clientY), onmouseleave: hideTip }));
	}
	for (let k = 0; k <= 4; k++)
		svg.append(draw("text", { class: "soft", x: at(all * k / 4), y: height - 6, "text-anchor": k === 4 ? "end" : "middle" }, duration(all * k / 4)));
	place.append(svg);
}
function callTable(list) {
	return el("div.scroll", null, el("table", null,
		el("thead", null, el("tr", null, ["thread", "begins at", "took", "calls that it may be"].map((h, i) => el(i ? "th.num" : "th", null, h)))),
		el("tbody", null, list.slice(0, 16).map(i => el("tr", null, el("td", null, cut(R.threads[i.thread] ? R.threads[i.thread].name : "", 60)),
			el("td.num", null, duration(i.first_ns)), el("td.num", null, between(i.last_ns - i.first_ns, i.after_ns - i.before_ns, duration), i.is_cut ? el("span.badge.warn", null, "cut") : null),
			el("td.num", null, between(1, 1 + i.n_unsure, count)))))));
}
function instances() {
	const box = byId("instances"), place = el("div.card.times");
	const fill = () => {
		const c = view.selected, list = c && callsOf.get(c.id) || [];
		place.replaceChildren();
		if (!c) { place.append(note("Nothing was seen.")); return; }
		place.append(el("h3", null, cut(fullName(c), 200)), el("p.small.rest", null, cut(pathOf(c).map(x => x.f.name).join(" > "), 1000)));
		for (const side of sides) place.append(el("p", null, figuresText(c, side).replace(/\n/g, "; ") + "."));
		if (!list.length) { place.append(note("Single calls are kept of the contexts on the first ten paths: select one of these.")); return; }
		callLine(place, c, list);
		place.append(callTable([...list].sort((a, b) => (b.last_ns - b.first_ns) - (a.last_ns - a.first_ns))));
	};
	box.append(place);
	fill();
	listeners.push(fill);
	addEventListener("resize", fill);
}
