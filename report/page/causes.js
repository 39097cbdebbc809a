/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What causes it: the ranked factors. */
let causesShown = 12;
function verdictBadge(v) {
	if (!v) return null;
	return el("span.badge." + (v === "culprit" || v === "inherent" ? v : "other"), null, v);
}
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
	if (f.is_blame) list.push("run by others while the interval waited");
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
	const box = document.getElementById("causes"), body = el("tbody"),
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
