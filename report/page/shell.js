/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all pages have around their parts: what the reader chose, kept in the browser where it allows that; light or dark;
 * keys; and how the parts are drawn. */
function remember(key, value) {
	try {
		if (value !== undefined) localStorage.setItem("vprof." + key, value);
		return localStorage.getItem("vprof." + key);
	} catch (e) {
		return null;
	}
}
/* A view within another page (views.js) has neither title nor foot of its own. */
const host = root.host;
function setTitle(text) { if (!host) document.title = text; }
function sayMade(text) { if (!host) byId("made").textContent = text; }
/* A view's place in the address: what stands behind "#", and within another page behind the view's name there. */
const address = {
	prefix: host ? host.dataset.view + "/" : "",
	get() {
		const text = location.hash.slice(1);
		return text.startsWith(this.prefix) ? text.slice(this.prefix.length) : "";
	},
	/* quietly: as no step of the browser's history */
	set(text, quietly) {
		if (text === this.get()) return;
		if (text && !quietly)
			location.hash = this.prefix + text;
		else
			history.replaceState(null, "", text ? "#" + this.prefix + text : location.pathname + location.search);
	},
	listen(changed) { addEventListener("hashchange", changed); }
};
function theme() {
	if (host) return;
	const button = byId("theme"), order = ["system", "light", "dark"];
	let value = remember("theme") || "system";
	const set = v => {
		value = v;
		if (v === "system")
			delete document.documentElement.dataset.theme;
		else
			document.documentElement.dataset.theme = v;
		button.textContent = "Theme: " + v;
	};
	button.addEventListener("click", () => {
		set(order[(order.indexOf(value) + 1) % 3]);
		remember("theme", value);
	});
	set(order.includes(value) ? value : "system");
}
/* Keys with the list of them, [keys, what they do], behind "?"; act(key) is told of the others, not of those in fields. */
function onKeys(rows, act) {
	const dialog = byId("keys"), show = () => dialog.showModal();
	dialog.append(el("h2", null, "Keyboard"),
		el("dl", null, rows.map(([k, t]) => [el("dt", null, el("kbd", null, k)), el("dd", null, t)])),
		el("form", { method: "dialog" }, el("button", null, "Close")));
	byId("help").addEventListener("click", show);
	document.addEventListener("keydown", e => {
		const from = e.composedPath()[0];
		if (host ? e.target !== host : e.target.dataset && e.target.dataset.view) return; /* another view's */
		if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(from.tagName) || dialog.open) return;
		if (e.key === "/") {
			byId("search").focus();
			e.preventDefault();
		} else if (e.key === "?")
			show();
		else
			act(e.key);
	});
}
/* One part that fails does not take the others with it. */
function drawParts(parts) {
	for (const part of parts) {
		try { part(); } catch (e) {
			const box = root.querySelector("section#" + part.name) || host || document.body;
			document.documentElement.dataset.failed =
				(document.documentElement.dataset.failed || "") + part.name + ": " + e.message + " " + e.stack + "\n";
			box.append(el("p.alert.bad", null, "This part could not be drawn: " + e.message));
		}
	}
	(host || document.documentElement).dataset.drawn = "1";
}
