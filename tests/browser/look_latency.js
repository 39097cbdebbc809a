/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the page of vprof report latency after it is drawn: compares it with its data, and works it as a person would.
 * Writes "ok" or what is wrong. */
addEventListener("load", () => {
	const sides = R.base ? ["base", "new"] : ["new"];
	const frame = (side, i) => $(`.frames[data-side=${side}] [data-context="${i}"]`), width = g => +$(".box", g).getAttribute("width");
	/* Widths are times on the stack, children lie beneath their callers and within them. */
	function checkFlame(side) {
		const units = R[side].n_units, at = i => R.contexts[i][side].low_ns / units;
		for (const g of all(`.frames[data-side=${side}] [data-context]`)) {
			const i = +g.dataset.context, up = R.contexts[i].parent, caller = up >= 0 && frame(side, up);
			if (caller) {
				expect(Math.abs(width(g) / width(caller) - at(i) / at(up)) < 0.02 || width(g) < 3, "width of " + i);
				expect(+$(".box", g).getAttribute("y") > +$(".box", caller).getAttribute("y"), "a callee above its caller");
				expect(+$(".box", g).getAttribute("x") >= +$(".box", caller).getAttribute("x") - 0.2, "a callee beside its caller");
			}
			const own = $(".own", g);
			if (own) expect(Math.abs(+own.getAttribute("width") / width(g) - R.contexts[i][side].own_ns / R.contexts[i][side].low_ns) < 0.03, "own time of " + i);
		}
	}
	function checkPaths() {
		const rows = all(".pathlist tbody tr");
		expect(rows.map(x => +x.dataset.path).join() === R.paths.slice(0, 10).map((p, i) => i).join(), "paths in their order");
		rows.forEach((row, i) => {
			const p = R.paths[i], end = R.contexts[p.steps[p.steps.length - 1].context];
			expect(row.textContent.includes(R.functions[end.function].name.slice(0, 100)), "the end of path " + i);
			expect(p.share < 0.01 || /…/.test($("td.num:nth-of-type(3)", row).textContent), "one number where there are bounds: " + i);
			expect(!!$(".badge", row) === (p.verdict !== "settled"), "verdict of path " + i);
		});
		const cells = R.paths.slice(0, 30).reduce((n, p) => n + p.steps.length, 0);
		expect(all(".heatmap rect").length === cells, "cells of the heat map: " + all(".heatmap rect").length);
	}
	function checkSelection() {
		const second = all(".pathlist tbody tr")[1], end = R.paths[1].steps[R.paths[1].steps.length - 1].context;
		click($("button", second));
		expect(second.classList.contains("on") && location.hash === "#c=" + end, "a path is not selected");
		expect(frame("new", end) && frame("new", end).classList.contains("sel"), "its frame is not marked");
		const calls = R.instances.filter(i => i.context === end);
		expect(all(".times rect.sure").length === calls.length, "calls drawn: " + all(".times rect.sure").length);
		press(document.body, "p");
		expect(location.hash === "#c=" + R.paths[0].steps[R.paths[0].steps.length - 1].context, "p goes to the path before");
		const g = frame("new", 0), before = all(".frames[data-side=new] [data-context]").length;
		g.focus();
		press(g, "ArrowDown");
		expect(document.activeElement.dataset.context === "1", "the arrow leads to the widest callee");
		press(document.activeElement, "z");
		expect(!frame("new", 0) && frame("new", 1), "z zooms");
		press(document.body, "Escape");
		expect(all(".frames[data-side=new] [data-context]").length === before, "Esc shows all");
		const input = $("#search");
		input.value = R.functions[2].name.slice(0, 20);
		input.dispatchEvent(new Event("input"));
		expect(all(".frames .hit").length > 0, "nothing is found");
	}
	try {
		checkView();
		expect(!isWide(), "wider than the window");
		if (kind === "empty") {
			expect(/No function was seen/.test($("#paths").textContent), "says nothing of nothing");
		} else {
			sides.forEach(checkFlame);
			checkPaths();
			checkSelection();
		}
		expect(performance.now() - start < 60000, "too slow");
	} catch (e) {
		wrong.push(e.message + " " + e.stack);
	}
	finish();
});
