/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the page after it is drawn: looks at it and works it as a person would. Writes "ok" or what is wrong. */
addEventListener("load", () => {
	try {
		checkPage(5, /^(null$|#|(vscode|vscodium|idea|org-protocol|file):)/); /* with d3; null: a place without an editor */
		if (kind === "empty") {
			expect(/No interval is complete/.test($("#spread").textContent), "says nothing of no intervals");
			expect(/No factor/.test($("#causes").textContent) && /Nothing below/.test($("#where").textContent), "says nothing of no factors");
		} else {
			/* Content against the JSON. */
			expect($("#head h1").textContent.startsWith(R.interval), "heading");
			const causes = all("#causelist tbody tr");
			expect(causes.length === R.causes.length, "causes shown: " + causes.length);
			causes.forEach((row, i) => {
				expect($("button", row).textContent === R.causes[i].sentence, "sentence of cause " + i);
				expect(row.children[1].textContent.startsWith(i ? "+5" : "-95 %"), "figure of cause " + i + ": " + row.children[1].textContent);
				expect(R.causes[i].if_constant_low !== null || !/…/.test(row.children[1].children[1].textContent), "bounds of cause " + i + " that are not known");
				expect($(".badge", row).textContent === R.causes[i].status, "status of cause " + i);
				expect($("ul.legend", row).children.length === 3, "parts of cause " + i);
			});
			expect(kind !== "plain" || / wait (for|in) /.test(R.causes[0].sentence), "sentence: " + R.causes[0].sentence);
			$("button", causes[0]).click();
			expect($("#icicle g.sel").dataset.node === "3", "node of a cause");
			const rows = all("#factors tbody tr");
			expect(rows.length === Math.min(12, R.factors.length), "factors shown: " + rows.length);
			rows.forEach((row, i) => {
				expect($("button", row).textContent === R.factors[i].name, "name of factor " + i);
				expect(row.children[1].textContent.startsWith(String(+(R.factors[i].share * 100).toFixed(R.factors[i].share >= 0.0995 ? 0 : 1))) || R.factors[i].share < 0.0005, "share of factor " + i);
			});
			/* What would go is not the share; the sum of both is told once, in the row of the first of them. */
			expect(rows[0].textContent.includes("if constant -60 % (-70 … -50 %)"), "if constant of a factor: " + rows[0].textContent);
			expect(rows[0].textContent.includes("own and beneath waits 80 % ("), "the sum of both: " + rows[0].textContent);
			expect(rows[1].textContent.includes("if constant -30 % · ") && !rows[1].textContent.includes("own and beneath"), "bounds that are not known: " + rows[1].textContent);
			expect($("#verdicts .culprit"), "no verdict");
			expect(all("#trust td, #trust dd, #trust div").some(e => e.textContent.includes("at most 0.4 % of the variance")), "closed functions");
			expect($("#trust .alert").textContent === R.warnings[0], "warning");
			expect(all("#spread rect.bucket, #spread rect.fill").length >= R.histogram.filter(b => !b.type).length, "histogram");
			expect(all("#spread h3").some(h => h.textContent.startsWith((kind === "plain" ? "20 % (10 % to 30 %)" : "< 0.1 %") + " of the variance lies between")), "bounds between types");
			/* The tree: widths are shares. */
			const boxes = all("#icicle g.n[data-node]"), root = $("rect", boxes[0]);
			expect(boxes.length > 5 && boxes.length < 6000, "boxes: " + boxes.length);
			const one = $('#icicle g.n[data-node="1"] rect');
			expect(Math.abs(one.getAttribute("width") / root.getAttribute("width") - R.nodes[1].share) < 0.01, "width of node 1");
			/* Selecting a factor shows its node. */
			$("button", rows[0]).click();
			expect($("#node .crumbs button[aria-current]"), "no path of the node");
			expect($("#icicle g.sel").dataset.node === String(R.factors[0].nodes[0]), "selected node");
			expect($("#node .heat") || !R.nodes[R.factors[0].nodes[0]].n_children, "no table of pairs");
			/* Keys: to the child and back, zoom, views. */
			press($("#icicle g.sel"), "ArrowDown");
			expect(R.nodes[+$("#icicle g.sel").dataset.node].parent === R.factors[0].nodes[0], "arrow down");
			press($("#icicle g.sel"), "ArrowUp");
			expect(+$("#icicle g.sel").dataset.node === R.factors[0].nodes[0], "arrow up");
			press($("#icicle g.sel"), "Enter");
			expect($("#icicle g.n").dataset.node === String(R.factors[0].nodes[0]), "zoom");
			press($("#icicle g.sel"), "Escape");
			expect($("#icicle g.n").dataset.node === "0", "whole tree");
			for (const [key, view] of [["m", "mean"], ["t", "tail"], ["v", "variance"]]) {
				press(document.body, key);
				expect($(`#where button[value=${view}]`).getAttribute("aria-pressed") === "true", "view " + view);
			}
			press(document.body, "n");
			expect(document.activeElement.closest("tr") === rows[0], "next factor");
			/* Who waits for whom: all pairs, and what is behind one. */
			const cells = all("#crosstalk td button"), names = R.parties.map(p => p.name);
			expect(cells.length === (kind === "large" ? 256 : R.crosstalk.length), "pairs: " + cells.length);
			expect($("#pair h4").textContent.includes(names[R.crosstalk[0].waiter].slice(0, 40)), "the heaviest pair");
			const named = all("#contexts td button");
			expect(named.length === (kind === "large" ? 16 : 3), "contexts: " + named.length);
			expect(/mean 500 ns \(450 ns … 550 ns\), 50 % \(44 % … 56 %\) of all time$/.test($("#context p").textContent),
				"bounds of a context: " + $("#context p").textContent);
			expect(/waiting 20 % \(15 % … 25 %\)/.test($("#contexts .tree").title), "bounds of its waiting");
			named[1].click();
			expect(/50 % of all time; inconclusive/.test($("#context p").textContent), "too few for bounds");
			expect($("#context h4").textContent.slice(0, 40) === R.contexts[1].name.slice(0, 40), "the context that was chosen");
			expect(all("#context li").length === 2 && all("#context g.n").length === 6, "its stages and its tree");
			expect(/1.0 % of its time \(/.test($("#pair p").textContent), "bounds of a pair: " + $("#pair p").textContent);
			cells[1].click();
			expect($("#pair p").textContent.includes("5.00 µs in 9 waits") && !/\(/.test($("#pair p").textContent), "another pair");
			expect(all("#pair .blame-list li").length === 2, "what the holders ran: " + all("#pair .blame-list li").length);
			/* Timelines. */
			expect($("#example").options.length === R.examples.length, "examples");
			$("#example").value = "1";
			$("#example").dispatchEvent(new Event("change"));
			expect(/^median/.test($("#why .card p[aria-live]").textContent), "another interval");
			/* Every control has a name. */
			checkControls();
		}
		if (kind === "large") {
			const t = performance.now();
			for (let i = 0; i < 10; i++) press(document.body, "mtv"[i % 3]);
			expect(performance.now() - t < 3000, "ten redraws took " + (performance.now() - t) + " ms");
			expect(all("*").length < 30000, "elements: " + all("*").length);
		}
		expect(!isWide(), "wider than the window: " + document.documentElement.scrollWidth);
	} catch (e) { wrong.push(e.message + " " + e.stack); }
	if (kind === "empty") { finish(); return; }
	const input = document.getElementById("search");
	input.value = kind === "hostile" ? "<script" : "function_7";
	input.dispatchEvent(new Event("input"));
	setTimeout(() => {
		expect(document.querySelectorAll("#found li").length > 0, "search finds nothing");
		expect(document.querySelectorAll("#icicle g.hit").length > 0 || kind === "large", "no hit is marked");
		press(input, "Enter");
		expect(document.getElementById("found").hidden, "the list stays open");
		finish();
	}, 400);
});
