/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What causes it: the causes, and the ranked factors that they are made of. */
let causesShown = 12;
function verdictBadge(v) {
	if (!v) return null;
	return el("span.badge." + (v === "culprit" || v === "inherent" ? v : "other"), null, v);
}
/* "96 … 98 %", or nothing when no bounds were estimated. */
const rangeOf = (low, high) => finite(low) && finite(high) ? ` ${percent(low).replace(" %", "")} … ${percent(high)}` : "";
const inBrackets = (low, high) => finite(low) && finite(high) ? ` (${rangeOf(low, high).trim()})` : "";
/* The change of the variance: "-95 %". */
const changeOf = x => !finite(x) ? "-" : (x > 0 ? "-" : x < 0 ? "+" : "") + percent(Math.abs(x));
const isTier = s => s && s.kind === "wait" && s.name.startsWith("tier "); /* without probes */
function splitsOf(c) {
	if (isTier(c.steps[c.steps.length - 1])) return [["no probes there", 1]];
	const named = c.splits.filter(s => s.name && Math.abs(s.part) >= 0.005).slice(0, 6);
	const rest = c.splits.reduce((sum, s) => sum + s.part, 0) - named.reduce((sum, s) => sum + s.part, 0);
	const list = named.map(s => [s.kind === "body" ? "its own code" : s.name, s.part]);
	return Math.abs(rest) >= 0.005 ? [...list, ["rest", rest]] : list;
}
/* A bar of what the cause consists of at its end. */
function splitBar(c) {
	const list = splitsOf(c), sum = d3.sum(list, ([, part]) => Math.max(0, part)) || 1;
	if (!list.length) return null;
	return el("div", null,
		el("div.splits", { "aria-hidden": "true" },
			list.map(([, part], i) => el("i.s" + i % 6, { style: `width:${100 * Math.max(0, part) / sum}%` }))),
		el("ul.legend", { "aria-label": "What it consists of" },
			list.map(([name, part], i) => el("li", null, el("i.s" + i % 6, { "aria-hidden": "true" }),
				`${cut(name, 60)} ${percent(part)}`))));
}
function causeSays(c) {
	const list = [`mean ${duration(c.mean_ns)}, sd ${duration(c.sd_ns)}`];
	const parts = [["own", c.own_part], ["waited for", c.waiting_part], ["while queued", c.queued_part]]
		.filter(([, part]) => finite(part) && Math.abs(part) >= 0.005);
	if (parts.length > 1) list.push(parts.map(([name, part]) => `${name} ${percent(part)}`).join(", "));
	if (c.n_places > 1) list.push(`${count(c.n_places)} ways lead to it`);
	if (c.knot) list.push(`knot: ${cut(c.knot, 120)}`);
	const tier = (R.tiers || []).find(t => t.causes.includes(R.causes.indexOf(c)));
	if (tier) list.push(`tier: ${cut(tier.name, 120)}`);
	if (c.can_break_down && c.n_unmeasured) list.push(`${count(c.n_unmeasured)} callees not measured yet`);
	if (finite(c.place_kept) && c.place_kept < 0.95)
		list.push(`keeps its rank in ${percent(c.place_kept)} of resampled runs`);
	return list.join(" · ");
}
function causeRow(c, i, most) {
	const end = c.steps.length ? nodes[c.steps[c.steps.length - 1].node] : nodes[c.nodes[0]];
	return el("tr", { "data-cause": i, class: c.status === "settled" ? "chosen" : null },
		el("td.num", null, String(i + 1)),
		el("td", null, el("b", null, changeOf(c.if_constant)),
			el("span.small.soft", null, rangeOf(minus(c.if_constant_high), minus(c.if_constant_low))),
			meter({ share: c.if_constant, share_low: c.if_constant_low, share_high: c.if_constant_high }, most),
			el("div.small.soft", null, `share ${percent(c.share)}${rangeOf(c.share_low, c.share_high)}`)),
		el("td", null,
			el("button.link.cause", { type: "button", onclick: () => end && select(end, "causes") }, c.sentence),
			el("div", null, el("span.badge" + (c.status === "settled" ? "" : ".warn"), null, c.status),
				c.verdict && !["candidate", "broken down"].includes(c.verdict) ? verdictBadge(c.verdict) : null),
			c.note ? el("div.small", null, c.note) : null, splitBar(c),
			el("div.small.soft", null, (c.file ? cut(c.file + ":" + c.line, 90) + " · " : "") + causeSays(c))));
}
function causeTable(list) {
	const most = Math.max(0.01, d3.max(list, c => Math.max(Math.abs(c.if_constant || 0), c.if_constant_high || 0)));
	return el("div.card.scroll", null,
		el("table", { id: "causelist" },
			el("thead", null,
				el("tr", null, el("th.num", null, "#"),
					el("th", { style: "min-width:170px" }, "variance if it were constant"),
					el("th", null, "cause"))),
			el("tbody", null, list.map((c, i) => causeRow(c, i, most)))));
}
/* What limits throughput, and what of the intervals passes through it: vprof report waits --html draws it. */
const knotText = k => el("p", null, el("span.badge", null, "knot"), ` ${cut(k.name, 200)} limits throughput: ${percent(k.through_ns / R.mean_ns)} ` +
	`of the mean and ${percent(k.share)}${rangeOf(k.share_low, k.share_high)} of the variance pass through it, in waits for its members` +
	(k.locks || []).slice(0, 3).filter(l => l.part >= 0.05).map((l, i) => `${i ? "," : ", at"} ${cut(l.awaited || l.name, 80)}` +
		`${l.file ? ` (${cut(l.file, 80)}:${l.line})` : l.function ? ` in ${cut(l.function, 80)}` : ""} ${percent(l.part)}`).join("") +
	" (vprof report waits --html)");
/* Which tier the time was spent in, and the causes that lie there: the view of the paths draws the tiers. */
const tierText = t => el("p", { "data-tier": t.name }, el("span.badge", null, "tier"), ` ${cut(t.name, 200)}${t.is_own ? ", where they begin," : ""} takes ` +
	`${percent(t.mean_ns / R.mean_ns)} of the mean and ${percent(t.share)} of the variance`,
	...t.causes.slice(0, 3).flatMap((i, k) => [k ? "; " : t.causes.length > 1 ? ": causes " : ": cause ", `${i + 1}, `, el("b", null, cut(R.causes[i].name, 120))]),
	" (", el("a", { href: "#paths" }, "its requests"), ")");
const tierTexts = () => (R.tiers || []).filter(t => t.mean_ns >= 0.005 * R.mean_ns || Math.abs(t.share) >= 0.005).map(tierText);
/* What the stacks show beneath a measured call: a tree of contexts, each between its bounds. */
const boundsOf = (low, high) => percent(low) === percent(high) ? percent(low) : `${percent(low)} … ${percent(high)}`;
function layerItems(parent, root) {
	const list = R.layers.map((l, i) => ({ ...l, id: i })).filter(l => l.parent === parent && l.id !== parent && l.high_ns >= 0.005 * root.high_ns)
		.sort((a, b) => b.high_ns - a.high_ns);
	return list.length ? el("ul", null, ...list.map(l => el("li", null,
		`${boundsOf(Math.min(1, l.low_ns / root.high_ns), Math.min(1, l.high_ns / root.low_ns))} `, el("b.name", null, cut(l.name, 200)),
		el("span.small.soft", null, ` ${l.kind}${l.file ? " " + cut(l.file, 80) : ""}` +
			(finite(l.share_low) && finite(l.share_high) ? `, variance ${boundsOf(l.share_low, Math.min(1, l.share_high))}` : "")),
		layerItems(l.id, root)))) : null;
}
const layerText = (l, i) => el("details", { "data-layer": i },
	el("summary", null, el("span.badge", null, "beneath"), ` ${cut(l.name, 200)} takes ${duration((l.low_ns + l.high_ns) / 2)} a call; of it, ` +
		`inferred from stacks (${count(l.n_whole)} of ${count(l.n_calls)} calls seen whole)`),
	layerItems(i, l));
const layerTexts = () => (R.layers || []).map((l, i) => [l, i]).filter(([l, i]) => l.kind === "measured" && R.layers.some((x, k) => k !== i && x.parent === i))
	.map(([l, i]) => layerText(l, i));
function meter(f, most) {
	const pc = s => Math.max(0, Math.min(100, 100 * s / most));
	return el("div.meter", { "aria-hidden": "true" },
		el("i",
			{ style: `width:${pc(Math.abs(f.share))}%` + (f.share < 0 ? ";background:var(--neg)" : "") }),
		finite(f.share_low) ? el("u", {
			style: `left:${pc(f.share_low)}%;width:${Math.max(0.5, pc(f.share_high) - pc(f.share_low))}%`
		}) :
			null);
}
function trusts(f) {
	const list = [];
	if (finite(f.place_kept)) list.push(`rank kept in ${percent(f.place_kept)} of resampled runs`);
	if (f.n_to_settle > 0)
		list.push(f.n_to_settle >= 1e15 ? "no number of intervals would separate it from the next" :
			`${count(f.n_to_settle)} intervals would separate it from the next`);
	if (finite(f.probe_ns) && f.probe_ns >= 0.001 * f.mean_ns)
		list.push(`recording added ${duration(f.probe_ns)}`);
	if (f.noise_share > 0.0005) list.push(`sampling error of ${percent(f.noise_share)} removed`);
	return list;
}
function says(f) {
	const n = firstNode(f), list = [];
	if (n && f.kind === "variance" && at(n)) list.push(cut(at(n), 90));
	if (f.kind === "covariance")
		list.push(finite(f.r) ? `move together, r = ${f.r.toFixed(2)}` : "move together");
	if (finite(f.if_constant))
		list.push(`if constant ${changeOf(f.if_constant)}${inBrackets(minus(f.if_constant_high), minus(f.if_constant_low))}`);
	if (f.counterpart > f.id + 1 && finite(f.together) && finite(f.together_constant))
		list.push(`own and beneath waits ${percent(f.together)}${inBrackets(f.together_low, f.together_high)}, ` +
			`if constant ${changeOf(f.together_constant)}` +
			inBrackets(minus(f.together_constant_high), minus(f.together_constant_low)));
	if (f.is_blame) list.push("run by others while the interval waited");
	if (f.knot) list.push(`in the knot ${cut(f.knot, 120)}`);
	for (const [name, share] of statesOf(f, "_share")) if (share >= 0.005) list.push(`${name} ${percent(share)}`);
	if (f.between_share >= 0.005) list.push(`${percent(f.between_share)} between types`);
	if (f.work_share >= 0.005) list.push(`${percent(f.work_share)} follows the work`);
	if (f.can_break_down) list.push(`${count(f.n_unmeasured)} callees not measured yet`);
	if (f.kind === "variance" && f.n_calls) list.push(`${count(f.n_calls)} calls`);
	return list.join(" · ");
}
function factorRow(f, most) {
	const bounds =
		finite(f.share_low) ? ` ${percent(f.share_low).replace(" %", "")} … ${percent(f.share_high)}` : "";
	const choose = () => {
		const n = firstNode(f);
		if (n) select(n, "causes");
	};
	return el("tr", { "data-factor": f.id, class: f.id < R.n_selected ? "chosen" : null },
		el("td.num", null, String(f.id + 1)),
		el("td", null, el("b", null, percent(f.share)), el("span.small.soft", null, bounds), meter(f, most)),
		el("td", null,
			el("button.link.name", { type: "button", title: cut(f.name, 300), onclick: choose }, f.name),
			el("div", null, verdictBadge(f.verdict),
				f.id < R.n_selected ? el("span.badge", null, "chosen") : null),
			f.note ? el("div.small", null, f.note) : null),
		el("td", null, el("div.place", null, place(f)),
			el("div.small.soft", { style: "overflow-wrap:anywhere" }, says(f)),
			el("div.small.soft", null, trusts(f).join(" · "))),
		el("td.num", null, duration(f.mean_ns)), el("td.num", null, duration(f.sd_ns)));
}
function factorTable(body, more) {
	return el("div.card.scroll", null,
		el("table#factors", { id: "factors" },
			el("thead", null,
				el("tr", null, el("th.num", null, "#"),
					el("th", { style: "min-width:150px" }, "share of variance"),
					el("th", { style: "min-width:190px" }, "factor"),
					el("th", null, "where it sits, and what is known"), el("th.num", null, "mean"),
					el("th.num", null, "sd"))),
			body),
		el("p", null, more));
}
function causes() {
	const box = byId("causes"), body = el("tbody"),
		more = el("button", { type: "button" });
	if (!factors.length) {
		box.append(note("No factor: nothing below the interval is measured in this run."));
		return;
	}
	const most =
		Math.max(0.01, d3.max(factors.slice(0, 40), f => Math.max(Math.abs(f.share), f.share_high || 0)));
	const stable = finite(R.order_kept) && R.n_selected > 1 ?
		` The chosen ${R.n_selected} keep their order in ${percent(R.order_kept)} of resampled runs.` :
		"";
	if (R.causes.length) {
		box.append(el("p", null,
			"One entry for each chain, from the interval through waits and the threads that it waited for to a " +
				"function of the program: by how much the variance would fall if the chain always took its " +
				"mean, and its share of the variance, with 95 % confidence intervals."),
			causeTable(R.causes.slice(0, 12)), ...R.knots.filter(k => k.through_ns >= 0.005 * R.mean_ns).map(knotText), ...tierTexts(), ...layerTexts(), el("h3", null, "The ranked factors that they are made of"));
	}
	box.append(el("p", null,
		"Share of the variance, with its 95 % confidence interval. Ranked by share times specificity: a specific function " +
			"comes before the callers that contain it." +
			stable),
		factorTable(body, more));
	const draw = () => {
		body.textContent = "";
		for (const f of factors.slice(0, causesShown)) body.append(factorRow(f, most));
		more.hidden = causesShown >= factors.length;
		more.textContent = `Show more of ${count(factors.length)} factors`;
	};
	more.addEventListener("click", () => { causesShown += 50; draw(); });
	draw();
	selectable.push(n => {
		for (const row of body.children) {
			const f = factors[+row.dataset.factor];
			row.classList.toggle(
				"on", f.kind === "variance" ? f.nodes.includes(n.id) || n.factor === f.id + 1 : false);
		}
	});
}
