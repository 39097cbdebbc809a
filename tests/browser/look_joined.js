/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in a page that holds other views of its run: they are drawn when they are first seen, each with its own data, keys and
 * place in the address. Writes "ok" or what is wrong. */
addEventListener("load", () => {
	const tree = name => { const place = $(`#${name} .within`); return place && place.shadowRoot; };
	const waits = data.views.waits, drawn = () => d.failed === undefined || d.failed === "";
	try {
		checkPage(5, /^(null$|#|(vscode|vscodium|idea|org-protocol|file):)/);
		/* What each of them answers stands at the top, with its warnings. */
		const told = all("#head ul.answers li"), answers = kind === "views" ? told.slice(1) : told;
		expect(answers.length === 2, "answers: " + answers.length);
		expect(kind !== "views" || told[0].textContent.includes(data.views.interval.answer.slice(0, 200)), "answer of the calls");
		expect(!!$("#interval") === (kind === "views") && !!$('nav a[href="#interval"]') === (kind === "views"), "calls as intervals where there are none");
		expect(kind === "hostile" || answers[0].textContent.includes(waits.answer.slice(0, 200)), "answer of the waits");
		expect(!waits.warnings.length === !$(".badge.warn", answers[0]), "a warning is told");
		expect($("#paths .note").textContent === data.views.paths.missing, "how to get what is missing");
		expect(kind === "views" || !tree("latency") || $("#latency").getBoundingClientRect().top < innerHeight + 500, "drawn before it is seen"); /* views: it was near before the one above it was drawn */
		if (kind === "views")
			expect(!$("#spread") && !$("#where") && /calls of a function.*vprof init/.test($("#causes").textContent), "no intervals");
		else {
			expect($("#causes").getBoundingClientRect().top < $("#spread").getBoundingClientRect().top, "causes come first");
			const first = all("#head .alert").map(x => x.textContent);
			expect(R.warnings.slice(0, 2).every(w => first.includes(w)), "warnings beside the answer");
		}
	} catch (e) { wrong.push(e.message + " " + e.stack); }
	/* A link leads into a view. */
	location.hash = "#waits/e=0";
	setTimeout(() => {
		try {
			const own = tree("waits");
			expect(own && drawn(), "a link draws its view: " + d.failed);
			expect($("#answer", own).textContent === waits.answer, "its own data");
			expect($('[data-key="e0"]', own) === null || $('[data-key="e0"]', own).classList.contains("sel"), "the link's edge is selected");
			click($("#edges button.link", own) || $("#edges button", own));
			expect(/^#waits\/e=\d+$/.test(location.hash), "its selection in the address: " + location.hash);
			/* Its keys are its own. */
			const before = location.hash;
			$("#waits .within").focus();
			$("#edges tbody tr", own).dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, composed: true, cancelable: true }));
			expect(/^#waits\/e=\d+$/.test(location.hash) && (waits.results.edges.length < 3 || location.hash !== before), "a key in the view: " + location.hash);
			press(document.body, "n");
			expect(kind === "views" || root_selected(), "a key of the page");
			expect(!all("script", own).length && !all("img, iframe, object, link", own).length, "foreign elements in a view");
		} catch (e) { wrong.push(e.message + " " + e.stack); }
		location.hash = "#latency";
		setTimeout(() => {
			expect(tree("latency") && $("#flame", tree("latency")).children.length > 0, "the layers are drawn");
			expect(kind !== "views" || tree("interval") && all(".contexts tbody tr", tree("interval")).length > 3, "the calls are drawn");
			dispatchEvent(new Event("beforeprint"));
			dispatchEvent(new Event("afterprint"));
			expect(drawn(), "failed: " + d.failed);
			expect(!isWide(), "wider than the window: " + document.documentElement.scrollWidth);
			finish();
		}, 400);
	}, 400);
	const root_selected = () => /^#n=\d+/.test(location.hash) || !!$("#icicle g.sel");
});
