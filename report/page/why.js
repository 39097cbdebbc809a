/* Why: what others did under each wait, and the critical paths of single intervals. */
/* Waits of the interval itself, summed by place and object. */
function waits() {
	const groups = new Map();
	for (const n of nodes) {
		if (n.is_blame || !n.id) continue;
		const kids = children(n), wait = n.kind === "wait" || n.kind === "queued" || kids.some(k => k.is_blame);
		if (!wait || (nodes[n.parent].kind === "wait" && !kids.length)) continue;
		const key = n.object && n.object !== "several" ? n.name + "\n" + n.object :
			[n.name, at(n)].join("\n"),
			g = groups.get(key) || { nodes: [], share: 0, mean: 0 };
		g.nodes.push(n);
		g.share += n.share || 0;
		g.mean += n.mean_ns || 0;
		groups.set(key, g);
	}
	return [...groups.values()]
		.filter(g => g.share > 0.0005 || g.mean > 0.005 * R.mean_ns)
		.sort((a, b) => b.share - a.share);
}
/* From a wait down to where its time divides, so that a chain of callers is one line. */
function blameOf(wait) {
	const list = [], go = (n, chain) => {
		const kids = children(n), most = kids.reduce((a, k) => !a || k.mean_ns > a.mean_ns ? k : a, null);
		if (chain.length && !(most && most.mean_ns > 0.6 * n.mean_ns)) { list.push({ n, chain }); return; }
		for (const k of kids) {
			if (k.mean_ns <= 0.01 * wait.mean_ns) continue;
			if (k.kind === "body" && !chain.length) list.push({ n: k, chain: [k], rest: true });
			else if (k.kind === "body") list.push({ n: k, chain: [...chain, k] });
			else go(k, [...chain, k]);
		}
	};
	go(wait, []);
	return list.sort((a, b) => b.n.mean_ns - a.n.mean_ns);
}
function chainText(b) {
	if (b.rest) return "nobody known: not explained by what is measured";
	const names = b.chain.filter(n => n.kind !== "body").map(n => cut(label(n), 50)),
		last = b.chain[b.chain.length - 1];
	const shown = names.length > 5 ? [...names.slice(0, 2), "…", ...names.slice(-2)] : names;
	return shown.join(" › ") + (last.kind === "body" ? " itself" : "");
}
function blame(box) {
	const list = waits();
	if (!list.length) { box.append(note("The intervals hardly waited for anybody in this run.")); return; }
	for (const g of list.slice(0, 8)) {
		const n = g.nodes.sort((a, b) => b.share - a.share)[0], most = g.mean || 1, sums = new Map();
		for (const b of g.nodes.flatMap(blameOf)) {
			const text = chainText(b), sum = sums.get(text) || { ...b, text, mean: 0, share: 0 };
			sum.mean += b.n.mean_ns || 0;
			sum.share += b.n.share || 0;
			sums.set(text, sum);
		}
		const rows = [...sums.values()].sort((a, b) => b.mean - a.mean).slice(0, 8),
			places = [...new Set(g.nodes.map(at).filter(Boolean))];
		box.append(
			el("div.card.wait", null,
				el("div", null,
					el("button.link.name",
						{ type: "button", title: cut(label(n), 300), onclick: () => select(n, "why") },
						n.kind === "queued" ? "queued: nobody worked for the interval" :
							waitText(n)),
					el("span.small.soft", null,
						[
							places.slice(0, 4).map(p => cut(p, 60)).join(", ") +
								(places.length > 4 ? `, ${places.length - 4} more` : ""),
							n.object ? "on " + n.object : "",
							g.nodes.length > 1 ? `at ${count(g.nodes.length)} places of the tree` : ""
						].filter(Boolean)
							.join(", "))),
				el("div", null, el("b", null, percent(g.share)),
					` of the variance, ${duration(g.mean)} of the mean`),
				rows.length ?
					el("ul.blame-list", { "aria-label": "What others did meanwhile" },
						rows.map(
							b =>
								el("li", null,
									el("span", {
										title: cut(b.chain.map(label).join(" › "), 400),
										style: "overflow-wrap:anywhere"
									},
										b.rest ? b.text :
											el("button.link",
												{ type: "button", onclick: () => select(b.n, "why") },
												b.text)),
									el("div.meter", { "aria-hidden": "true" },
										el("i", { style: `width:${Math.min(100, 100 * b.mean / most)}%` })),
									el("span.num.small", null,
										`${percent(b.mean / most)} of it, ${percent(b.share)} var.`)))) :
					el("p.small.soft", null, "What others did meanwhile is not measured yet.")));
	}
	if (list.length > 8)
		box.append(el("p.small.soft", null, `and ${count(list.length - 8)} more, in the tree above`));
}
const pieceKind = {
	run: "function", wait: "wait", kernel: "site", io: "io", preempted: "preempted", queued: "queued"
};
const pieceText = {
	wait: "blocked in ", kernel: "in the kernel, in ", io: "blocked or in the kernel, in ", preempted: "preempted in "
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
	const holder = el("div.times"), text = el("p.small.soft", { "aria-live": "polite" }), W = 1120;
	const pick = el("select", {
		id: "example",
		"aria-label": "Interval",
		onchange: () => {
			current = list[+pick.value];
			view = null;
			draw();
		}
	},
		list.map((x, i) => el("option", { value: i },
			`${whyNames[x.why] || x.why}${x.why === "slowest" ? " " + x.rank : ""}: ` +
				`${duration(x.latency_ns)}${x.type ? ", " + cut(x.type, 30) : ""}`)));
	let current = list[0], view = null;
	const zoom = f => {
		const [a, b] = view || [0, current.latency_ns], m = (a + b) / 2, h = (b - a) / 2 * f;
		view = f > 1 && h * 2 >= current.latency_ns ?
			null :
			[Math.max(0, m - h), Math.min(current.latency_ns, m + h)];
		draw();
	};
	const shift = f => {
		if (!view) return;
		const w = view[1] - view[0], d = Math.max(-view[0], Math.min(current.latency_ns - view[1], w * f));
		view = [view[0] + d, view[1] + d];
		draw();
	};
	const step = d => {
		const i = list.indexOf(current) + d;
		if (i >= 0 && i < list.length) {
			pick.value = i;
			current = list[i];
			view = null;
			draw();
		}
	};
	const button = (t, l, f) => el("button", { type: "button", "aria-label": l, title: l, onclick: f }, t);
	const card = el("div.card", null,
		el("div.bar-row", null, button("‹", "Interval before", () => step(-1)), pick,
			button("›", "Next interval", () => step(1)), el("span.right"),
			button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
			button("←", "Earlier", () => shift(-0.4)), button("→", "Later", () => shift(0.4)),
			button("All", "Whole interval",
				() => {
					view = null;
					draw();
				})),
		text, holder);
	box.append(card);
	function draw() {
		const x0 = current, [from, to] = view || [0, x0.latency_ns], L = 150,
			x = d3.scaleLinear().domain([from, to]).range([L, W - 8]).clamp(true);
		const lanes = [...new Set([
			...x0.pieces.filter(p => p.kind !== "queued").map(p => p.thread), ...x0.calls.map(c => c.thread)
		])],
			deep = new Map(lanes.map(
				t => [t, 1 + (d3.max(x0.calls.filter(c => c.thread === t), c => c.depth + 1) || 0)]));
		let y = 46;
		const top = new Map(lanes.map(t => { const v = y; y += deep.get(t) * 20 + 12; return [t, v]; }));
		holder.textContent = "";
		const svg = svgAt(holder, W, y + 26, `Critical path of an interval of ${duration(x0.latency_ns)}`);
		const clip = "clip" + list.indexOf(x0);
		svg.append("clipPath")
			.attr("id", clip)
			.append("rect")
			.attr("x", L)
			.attr("width", W - 8 - L)
			.attr("height", y + 26);
		const lane = (t, yy, s) =>
			svg.append("text").attr("class", "lane").attr("x", 8).attr("y", yy + 14).text(s);
		lane(0, 14, "critical path");
		for (const t of lanes) lane(t, top.get(t), threadName(t));
		const g = svg.append("g").attr("clip-path", `url(#${clip})`);
		const bar = (sel, list, yy, h, kind, name, tipText) => {
			const e = sel.append("g")
				.selectAll("g")
				.data(list.filter(p => p.to_ns >= from && p.from_ns <= to &&
					(p.to_ns - p.from_ns) / (to - from) * (W - L) > 0.25))
				.join("g");
			e.append("rect")
				.attr("class", p => "piece k-" + kind(p))
				.attr("x", p => x(p.from_ns))
				.attr("width", p => Math.max(0.6, x(p.to_ns) - x(p.from_ns)))
				.attr("y", yy)
				.attr("height", h)
				.attr("rx", 1.5);
			e.append("text")
				.attr("x", p => x(p.from_ns) + 4)
				.attr("y", p => (typeof yy === "function" ? yy(p) : yy) + h - 5)
				.text(p => {
					const room = Math.floor((x(p.to_ns) - x(p.from_ns) - 6) / 6.9);
					return room > 2 ? cut(name(p), room) : "";
				});
			tipped(e, tipText);
		};
		const what = p => p.kind === "run" ? "runs in " + threadName(p.thread) :
			pieceText[p.kind] ? pieceText[p.kind] + p.name :
				"queued";
		const say = p => `${what(p)}${p.object ? " on " + p.object : ""}\n${duration(p.to_ns - p.from_ns)}, ` +
			`from ${duration(p.from_ns)} to ` +
			`${duration(p.to_ns)}${p.is_blame ? "\nworked for others while the interval waited" : ""}`;
		bar(g, x0.pieces.filter(p => !p.is_blame), 14, 20, p => pieceKind[p.kind], what, say);
		bar(g, x0.pieces.filter(p => p.kind !== "queued"), p => top.get(p.thread), 18,
			p => p.kind === "run" && p.is_blame ? "body" : pieceKind[p.kind],
			p => p.kind === "run" ? p.is_blame ? "others" : "runs" : p.name, say);
		bar(g, x0.calls, c => top.get(c.thread) + 20 * (c.depth + 1), 18,
			c => c.is_blame ? "body" : "function", c => c.name,
			c => `${c.name}\n${duration(c.to_ns - c.from_ns)}`);
		for (const t of x.ticks(8)) {
			svg.append("line")
				.attr("class", "markline")
				.attr("stroke-opacity", 0.25)
				.attr("x1", x(t))
				.attr("x2", x(t))
				.attr("y1", 12)
				.attr("y2", y + 4);
			svg.append("text")
				.attr("class", "lane")
				.attr("x", x(t))
				.attr("y", y + 18)
				.attr("text-anchor", "middle")
				.text(duration(t));
		}
		text.textContent =
			`${whyNames[x0.why] || x0.why}: ${duration(x0.latency_ns)}, begun ${duration(x0.at_ns)} after the ` +
				`trace's begin${x0.type ? ", type " + cut(x0.type, 100) : ""}; ${count(x0.pieces.length)} pieces` +
			(x0.n_left_out ? `; ${count(x0.n_left_out)} short calls and pieces are left out` : "") +
			". Orange: blocked, green: in the kernel, yellow-green: one of the two, grey: what others ran meanwhile, " +
			"beneath: the measured calls.";
	}
	draw();
}
function why() {
	const box = document.getElementById("why");
	blame(box);
	timelines(box);
}
