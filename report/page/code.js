/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which code: excerpts, with the calls marked whose time is measured, and a way into the editor. */
let showCode = () => {};
const editors = {
	vscode: [
		"VS Code", (p, l) => "vscode://file" + encodeURI(p).replace(/[?#]/g, encodeURIComponent) + ":" + l
	],
	vscodium: [
		"VSCodium",
		(p, l) => "vscodium://file" + encodeURI(p).replace(/[?#]/g, encodeURIComponent) + ":" + l
	],
	jetbrains: ["JetBrains", (p, l) => "idea://open?file=" + encodeURIComponent(p) + "&line=" + l],
	emacs: [
		"Emacs (org-protocol)",
		(p, l) => "org-protocol://open-file?file=" + encodeURIComponent(p) + "&line=" + l
	],
	file: ["browser", p => "file://" + encodeURI(p).replace(/[?#]/g, encodeURIComponent)],
};
/* Of the node's factor: over all places where the function occurs. */
const whole = n => n.factor && factors[n.factor - 1] || n;
/* The lines of an excerpt; those that call what is measured are marked with it. */
function sourceTable(x) {
	const marks = new Map(), body = el("tbody");
	for (const [line, node] of x.marks) marks.set(line, [...(marks.get(line) || []), nodes[node]]);
	const say = n => `${cut(n.name, 40)} ${percent(whole(n).share)} var., ${duration(whole(n).mean_ns)}`;
	let before = 0;
	for (const [number, line] of x.lines) {
		if (before && number !== before + 1)
			body.append(el("tr.gap", null, el("td.ln", null, "⋯"),
				el("td", null, `${count(number - before - 1)} lines`)));
		const hits = marks.get(number) || [];
		body.append(el("tr" + (hits.length || number === x.line ? ".hit" : ""), null,
			el("td.ln", null, String(number)),
			el("td", null, line,
				hits.length ? el("span.said", null, "   ◂ " + hits.map(say).join("; ")) : null)));
		before = number;
	}
	return el("table", null, body);
}
function showExcerpt(x, editor, { open, text, holder }) {
	open.hidden = !x.path;
	open.href = editors[editor][1](x.path, x.line);
	open.textContent = cut(x.file, 70) + ":" + x.line;
	text.textContent = `${cut(x.name, 80)}: ${percent(whole(nodes[x.node]).share)} of the variance. ` +
		(x.marks.length ? "Marked lines call what is measured." : "");
	if (x.is_changed) text.append(el("span.badge.warn", null, "changed since the run"));
	holder.textContent = "";
	if (x.lines.length)
		holder.append(sourceTable(x));
	else
		holder.append(note(`${cut(x.file, 200)} cannot be read here: the page was made without it.`));
	holder.scrollTop = 0;
}
function editorChoice(change) {
	const editor = el("select", {
		"aria-label": "Editor",
		onchange: () => {
			remember("editor", editor.value);
			change();
		}
	},
		Object.entries(editors).map(([k, v]) => el("option", { value: k }, v[0])));
	const kept = remember("editor");
	if (kept && editors[kept]) editor.value = kept;
	return editor;
}
function code() {
	const box = byId("code"), list = data.excerpts;
	if (!list.length) { box.append(note("No factor of this run has a place in the sources.")); return; }
	const show = i => {
		pick.value = i;
		showExcerpt(list[i], editor.value, parts);
	};
	const again = () => show(+pick.value);
	const pick = el("select",
		{ id: "excerpt", "aria-label": "Place", style: "max-width:420px", onchange: again },
		list.map(
			(x, i) => el("option", { value: i }, cut(x.name, 50) + "  " + cut(x.file, 60) + ":" + x.line)));
	const editor = editorChoice(again), parts = {
		open: el("a", { rel: "noreferrer" }, "open"),
		text: el("p.small.soft"),
		holder: el("div.src", { tabindex: 0, role: "region", "aria-label": "Source" })
	};
	box.append(el("div.card", null,
		el("div.bar-row", null, pick, el("span.right"), parts.open,
			el("label.small", null, "in ", editor)),
		parts.text, parts.holder));
	showCode = i => { show(i); box.scrollIntoView({ block: "start" }); };
	selectable.push(n => { const i = excerptOf(n); if (i >= 0) show(i); });
	show(0);
}
