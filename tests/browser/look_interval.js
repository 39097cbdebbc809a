/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the page of vprof report latency --interval --html after it is drawn: compares it with its data, and works it as a
 * person would. Writes "ok" or what is wrong. */
addEventListener("load", () => {
	const I = R.interval, layers = I.layers, rows = () => all(".contexts tbody tr"), idOf = row => +row.dataset.context;
	const widths = (row, column) => all(`td:nth-of-type(${column}) .meter i`, row).map(x => parseFloat(x.style.width));
	function checkRows() {
		const seen = rows().map(idOf), at = new Map(seen.map((id, i) => [id, i]));
		const counts = layers.map((l, i) => !i || l.high_ns >= 0.01 * layers[0].high_ns || l.share_high >= 0.01);
		const wanted = counts.filter(x => x).length;
		expect(seen.length === Math.min(300, wanted), "rows: " + seen.length + " of " + wanted);
		expect(new Set(seen).size === seen.length && seen.every(id => counts[id]), "a row that does not count");
		for (const row of rows()) {
			const id = idOf(row), l = layers[id], text = row.textContent;
			expect(!id || at.get(l.parent) === undefined || at.get(l.parent) < at.get(id), "a callee above its caller: " + id);
			expect(text.includes(l.name.slice(0, 100)), "the name of " + id);
			expect(l.high_ns < 1.05 * l.low_ns || /…/.test($("td:nth-of-type(2)", row).textContent), "one number where there are bounds: " + id);
			const [may, sure] = widths(row, 2);
			expect(Math.abs(may - 100 * Math.min(1, l.high_ns / layers[0].high_ns)) < 0.2 && Math.abs(sure - 100 * l.low_ns / layers[0].high_ns) < 0.2, "time of " + id);
			if (l.share_high === null) expect(/not known/.test($("td:nth-of-type(3)", row).textContent), "a share that is not known: " + id);
			else expect(Math.abs(widths(row, 3)[0] - Math.min(100, 100 * l.share_high)) < 0.2 && Math.abs(widths(row, 3)[1] - 100 * l.share_low) < 0.2, "share of " + id);
		}
		const beneath = seen.filter(id => id && layers[id].parent === 0).map(id => layers[id].share_high || 0);
		expect(beneath.every((x, i) => !i || x <= beneath[i - 1]), "what varies most does not come first");
	}
	function checkSelection() {
		const row = rows()[1], id = idOf(row);
		click($("button", row));
		expect(location.hash === "#c=" + id && $(`.contexts tr[data-context="${id}"]`).classList.contains("on"), "a function is not selected");
		expect($("#detail").textContent.includes(layers[0].name.slice(0, 50)) && $("#detail h3").textContent.includes(layers[id].name.slice(0, 100)), "its callers are not told");
		press(document.body, "n");
		expect(location.hash === "#c=" + idOf(rows()[2]), "n goes to the next function");
		press(document.body, "p");
		expect(location.hash === "#c=" + id, "p goes back");
		press(document.body, "Escape");
		expect(location.hash === "" && !$(".contexts tr.on"), "Esc selects none");
	}
	function checkSearch() {
		const input = $("#search"), name = layers[2].name.slice(0, 20);
		input.value = name;
		input.dispatchEvent(new Event("input"));
		const hits = all(".contexts tr.hit").map(idOf);
		expect(hits.includes(2) && hits.every(id => layers[id].name.toLowerCase().includes(name.toLowerCase())), "what is found");
		press(input, "Enter");
		expect(/^#c=\d+$/.test(location.hash) && $(".contexts tr.on.hit"), "Enter selects what is found");
		press(input, "Escape");
		expect(!$(".contexts tr.hit"), "Esc ends the search");
	}
	function checkMore() {
		const more = all("#contexts button").pop(), before = rows().length;
		if (layers.length > before) {
			click(more);
			expect(rows().length > before, "more are not shown");
		}
		expect(layers.length > rows().length || more.hidden, "more of nothing");
	}
	try {
		checkView();
		expect(!isWide(), "wider than the window");
		if (kind === "empty") {
			expect(/No call was seen/.test($("#contexts").textContent) && /- calls|0 calls/.test($("#figures").textContent), "says nothing of nothing");
		} else {
			checkRows();
			checkSelection();
			checkSearch();
			checkMore();
			expect(/300 calls, mean 2.80 ms … 3.20 ms/.test($("#figures").textContent), "figures: " + $("#figures").textContent);
		}
		expect(performance.now() - start < 60000, "too slow");
	} catch (e) {
		wrong.push(e.message + " " + e.stack);
	}
	finish();
});
