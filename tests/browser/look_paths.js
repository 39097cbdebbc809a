/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the page of vprof report paths after it is drawn: compares it with its data, and works it as a person would.
 * Writes "ok" or what is wrong. */
addEventListener("load", () => {
	const shown = R.requests.slice().sort((a, b) => b.latency_ns - a.latency_ns);
	/* A row for each visit, below its caller; what was served lies within the picture. */
	function checkRequest(q, what) {
		const rows = all("#waterfall .row"), place = $("#waterfall svg").getBoundingClientRect();
		expect(rows.length === q.visits.length, `${what}: ${rows.length} rows, not ${q.visits.length}`);
		expect(all("#waterfall .served").length === q.visits.filter(v => v.served_from_ns !== null).length, what + ": visits where they were recorded");
		expect(all("#waterfall .queued").length === q.visits.filter(v => v.request_queued_ns > 0).length, what + ": requests that lay in receive queues");
		all("#waterfall .row").forEach(row => {
			const queued = $(".queued", row), served = $(".served", row), end = b => +b.getAttribute("x") + +b.getAttribute("width");
			expect(!queued || (Math.abs(end(queued) - +served.getAttribute("x")) < 1.1 && +queued.getAttribute("x") >= +$(".called", row).getAttribute("x") - 0.1), what + ": the queue ends where the visit begins");
		});
		all("#waterfall rect").forEach(b => {
			const box = b.getBoundingClientRect();
			expect(box.left >= place.left - 1 && box.right <= place.right + 1 && box.bottom <= place.bottom + 1, what + ": a bar outside");
		});
		const longest = Math.max(...q.visits.map(v => v.latency_ns)), widths = all("#waterfall .called").map(b => +b.getAttribute("width"));
		expect(Math.abs(widths[0] - Math.max(...widths)) < 1 && q.visits[0].latency_ns === longest, what + ": the request itself is the longest");
	}
	/* The chosen request's visits that are opened, and the tiers' in the mean: what is around all of a visit is left out. */
	function checkFunctions(q) {
		const lists = all("#waterfall details.functions"), opened = q.visits.filter(v => v.functions.length);
		expect(lists.length === opened.length && opened.length > 0, `${lists.length} visits are opened, not ${opened.length}`);
		expect(all("li", lists[0]).map(l => l.dataset.function).join() === opened[0].functions.slice(1).map(f => f.name).join(), "functions of a visit");
		const tier = $("#opened details");
		expect(tier.dataset.opened === R.opened[0].tier && all("li", tier).length === 1 && /^80.*90/.test($("li", tier).textContent), "functions of a tier: " + tier.textContent);
		expect(/10 left out/.test(tier.textContent), "visits that are left out");
	}
	function checkPatterns() {
		const cards = all("#pictures .pattern");
		expect(cards.length === Math.min(12, R.patterns.length), "patterns: " + cards.length);
		cards.forEach((card, i) => {
			expect(R.requests.some(q => q.path === R.patterns[i].path) === !!$("svg", card), "a picture of each pattern with an example: " + i);
			const boxes = all(".box", card).map(b => $("rect", b).getBoundingClientRect());
			boxes.forEach((a, k) => boxes.slice(k + 1).forEach(b =>
				expect(a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1, "boxes overlap: " + i)));
		});
		if (kind === "plain") {
			const texts = all(".box text", cards[2]).map(t => t.textContent);
			expect(texts.includes("database:5432 × 3"), "calls that are alike are counted: " + texts.join());
			expect(all("path", cards[2]).length === 3, "an edge from each caller");
		}
	}
	try {
		checkView();
		if (kind === "empty") {
			expect(/No request was found/.test(data.answer) && all(".note").length >= 3, "says nothing of nothing");
		} else {
			expect(all("#tierlist tbody tr").length === R.tiers.length, "tiers");
			const calls = all("#calllist tbody tr").map(row => row.textContent);
			expect(calls.length === 20 && /9 more/.test($("#tiers").textContent), "calls: " + calls.length);
			expect(kind === "hostile" || /^application:9000 > 10\.0\.0\.7:53/.test(calls[0]), "the call that explains most: " + calls[0]);
			expect(/In receive queues: /.test($("#tiers").textContent), "what receive queues are");
			expect(kind === "hostile" || /proxy:80/.test($("#tierlist").textContent), "names of tiers");
			checkPatterns();
			expect(all("#times .cdf").length === R.tiers.filter(t => !t.is_transit).length + 1, "distributions: " + all("#times .cdf").length);
			all("#times .cdf path.line").forEach(p => {
				const ys = p.getAttribute("d").slice(1).split("L").map(x => x.split(",").map(Number));
				expect(ys.every(([x, y], i) => isFinite(x) && isFinite(y) && (!i || (x >= ys[i - 1][0] - 0.1 && y <= ys[i - 1][1] + 0.1))), "a distribution that falls");
			});
			expect(shown.every(q => q.state !== "ambiguous" && q.is_whole), "only requests of which all is known");
			expect(all("#which option").length === shown.length && shown.length <= 112, "requests to choose from: " + shown.length);
			checkRequest(shown[0], "slowest");
			checkFunctions(shown[0]);
			press(document.body, "n");
			expect($("#which").value === "1", "the next request");
			checkRequest(shown[1], "second");
			press(document.body, "p");
			expect($("#which").value === "0", "back");
			const button = $("#pictures button");
			if (button) {
				button.click();
				expect(shown[+$("#which").value].path === R.patterns[0].path, "the example of a pattern");
			}
			if (kind === "plain") {
				$("#search").value = "database";
				$("#search").dispatchEvent(new Event("input"));
				expect(all("#pictures .hit").length === 4 && all("#waterfall .hit").length > 0, "a tier is found");
				press($("#search"), "Escape");
				expect(!$(".hit"), "and left again");
			}
			expect($("#trust").textContent.includes("behind"), "clocks");
			expect(data.warnings.some(w => /lost/.test(w)), "lost events are told");
		}
		expect(!isWide(), "wider than the window");
	} catch (e) { wrong.push(e.message + " " + e.stack); }
	finish();
});
