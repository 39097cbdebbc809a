/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values as a person reads them, and elements made without ever parsing text as HTML. */
const finite = x => typeof x === "number" && isFinite(x);
const count = x => finite(x) ? x.toLocaleString("en-US") : "-";
function duration(ns) {
	if (!finite(ns)) return "-";
	const a = Math.abs(ns);
	const unit = a >= 1e9 ? [1e9, "s"] : a >= 1e6 ? [1e6, "ms"] : a >= 1e3 ? [1e3, "µs"] : [1, "ns"];
	const x = ns / unit[0], b = Math.abs(x);
	return x.toFixed(b >= 99.95 || unit[0] === 1 ? 0 : b >= 9.995 ? 1 : 2) + " " + unit[1];
}
function percent(share) {
	if (!finite(share)) return "-";
	const p = share * 100, a = Math.abs(p);
	return (a >= 9.95 ? p.toFixed(0) : a >= 0.05 ? p.toFixed(1) : a > 0 ? "< 0.1" : "0") + " %";
}
/* What is not known has no opposite: -null would be 0. */
const minus = x => finite(x) ? -x : null;
const cut = (s, n) => s.length <= n ? s : s.slice(0, Math.max(1, n - 1)) + "…";
/* el("td.num", {title: ...}, child or text, ...) */
function el(what, attributes, ...children) {
	const [tag, ...classes] = what.split("."), e = document.createElement(tag);
	if (classes.length) e.className = classes.join(" ");
	for (const [k, v] of Object.entries(attributes || {})) {
		if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
		else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
	}
	for (const c of children.flat(Infinity)) if (c !== null && c !== undefined && c !== false) e.append(c);
	return e;
}
const note = text => el("p.note", null, text);
const missing = what =>
	note(what + ": not recorded in this run. Analyse it again with this vprof: vprof analyze");
/* Buttons of which one is pressed. */
function choice(label, options, value, change) {
	const group = el("span.group", { role: "group", "aria-label": label });
	const show = v => { for (const b of group.children) b.setAttribute("aria-pressed", b.value === v); };
	for (const [v, text, why] of options)
		group.append(el("button", {
			type: "button",
			value: v,
			disabled: !!why,
			title: why || null,
			onclick: () => {
				show(v);
				change(v);
			}
		},
			text));
	show(value);
	return group;
}
const tip = byId("tip");
function showTip(text, x, y) {
	tip.textContent = text;
	tip.hidden = false;
	const w = tip.offsetWidth, h = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
	tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 10) : y + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };
function tipped(selection, text) {
	return selection.on("mousemove", function (d) { showTip(text(d), d3.event.clientX, d3.event.clientY); })
		.on("mouseleave", hideTip);
}
const svgAt = (box, width, height, label) => d3.select(box)
	.append("svg")
	.attr("viewBox", `0 0 ${width} ${height}`)
	.attr("role", "img")
	.attr("aria-label", label);
