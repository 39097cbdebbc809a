/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reader chose, kept in the browser where it allows that; and light or dark. */
function remember(key, value) {
	try {
		if (value !== undefined) localStorage.setItem("vprof." + key, value);
		return localStorage.getItem("vprof." + key);
	} catch (e) {
		return null;
	}
}
function theme() {
	const button = document.getElementById("theme"), order = ["system", "light", "dark"];
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
