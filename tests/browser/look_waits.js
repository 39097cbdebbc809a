/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the page of vprof report waits after it is drawn: compares it with its data, and works it as a person would.
 * Writes "ok" or what is wrong. */
addEventListener("load", () => {
	const share = e => e.weight_ns / R.duration_ns, names = R.parties.map(p => p.name), limits = R.knots.filter(k => k.verdict !== "background");
	const vertex = i => $(`#waitfor [data-key="p${i}"]`), edge = i => $(`#waitfor [data-key="e${i}"]`);
	const box = g => $(".shape", g).getBoundingClientRect();
	const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
	/* Boxes stand beside one another, within the picture, with names of a size that is read. */
	function checkPicture(what) {
		const svg = $("#waitfor"), place = svg.getBoundingClientRect(), boxes = all(".v", svg).map(box);
		boxes.forEach((a, i) => {
			expect(a.left >= place.left - 1 && a.right <= place.right + 1 && a.top >= place.top - 1 && a.bottom <= place.bottom + 1, what + ": a vertex outside");
			for (const b of boxes.slice(i + 1)) expect(!overlap(a, b), what + ": vertices overlap");
		});
		const labels = all(".label rect", svg).map(x => x.getBoundingClientRect());
		labels.forEach((a, i) => {
			for (const b of [...labels.slice(i + 1), ...boxes]) expect(!overlap(a, b), what + ": a label covers something");
		});
		const scale = place.width / svg.viewBox.baseVal.width;
		all("text", svg).forEach(t => expect(parseFloat(getComputedStyle(t).fontSize) * scale >= 10.5, what + ": small text"));
		all(".v", svg).forEach(g => expect($(".title", g).getBoundingClientRect().right <= box(g).right + 2, what + ": a name leaves its box: " + $(".title", g).textContent));
		expect(!isWide(), what + ": wider than the window");
	}
	/* Whatever a developer acts on has a place in the picture. */
	function checkKnots() {
		expect(all("#waitfor .frame").length === limits.length, "frames: " + all("#waitfor .frame").length);
		for (const k of limits) {
			for (const i of k.parties) expect(vertex(i) && vertex(i).classList.contains("limiting"), "a member is not marked: " + names[i]);
			for (const i of k.edges) expect(edge(i) && edge(i).classList.contains("limiting"), "an edge of a knot is not shown: " + i);
			const heavy = k.edges.filter(i => !R.edges[i].is_idle).sort((a, b) => share(R.edges[b]) - share(R.edges[a]));
			if (heavy.length) expect($(`#waitfor [data-of="e${heavy[0]}"]`), "the heaviest edge has no label");
		}
		const drawn = limits.flatMap(k => k.edges).filter(i => !R.edges[i].is_idle && edge(i));
		const width = i => +$(".line", edge(i)).getAttribute("stroke-width");
		for (const a of drawn)
			for (const b of drawn) expect(share(R.edges[a]) <= share(R.edges[b]) || width(a) >= width(b), "widths do not follow weights");
		/* Knots come first. */
		const foot = Math.max(...limits.flatMap(k => k.parties).map(i => box(vertex(i)).bottom));
		all("#waitfor .v:not(.limiting)").forEach(g => expect(box(g).top > foot, "a vertex above a knot"));
	}
	const split = stack => stack.replace(" [kernel: ", " < [kernel] ").replace(/\]$/, "").split(" < ");
	function checkEdge(i) {
		const e = R.edges[i], text = $("#why").textContent;
		expect(text.includes(names[e.from].slice(0, 30)) && text.includes(names[e.to].slice(0, 30)), "details of an edge name others");
		for (const s of e.stacks) for (const f of split(s.wait)) expect(text.includes(f.slice(0, 100)), "a frame of the wait is missing: " + f);
		for (const s of e.stacks) for (const f of split(s.waker)) expect(text.includes(f.slice(0, 100)), "a frame of the waker is missing: " + f);
		if (data.is_faithful && e.halved !== null) {
			const gain = x => x < 0.005 ? "nothing" : `+${(x * 100) >= 9.95 ? (x * 100).toFixed(0) : (x * 100).toFixed(1)} %`;
			expect(text.includes("half as long" + gain(e.halved)), "gain when halved: " + text);
			expect(text.includes("gone" + gain(e.gone)), "gain when gone");
			expect(e.saved === null || text.includes("I/O saved" + gain(e.saved)), "gain of saved I/O");
		}
	}
	try {
		checkView();
		expect($("#answer").getBoundingClientRect().bottom < $("#graph").getBoundingClientRect().top, "the answer comes first");
		if (kind === "empty") {
			expect(/No wait limits throughput/.test(data.answer) && /Nothing in this recording/.test($("#knots").textContent), "says nothing of nothing");
		} else {
			checkPicture("first");
			checkKnots();
			const sorted = R.edges.map((e, i) => i).filter(i => !R.edges[i].is_idle).sort((a, b) => R.edges[b].weight_ns - R.edges[a].weight_ns || a - b);
			expect(all("#edges tbody tr").map(x => +x.dataset.edge).join() === sorted.slice(0, 15).join(), "all waits by weight");
			/* What of the intervals passes through a knot. */
			const through = all("#knots .through tbody tr"), parts = limits.flatMap(k => k.through);
			expect(through.length === parts.length, "rows of what passes through: " + through.length);
			through.forEach((row, i) => {
				expect(row.children[0].textContent === (parts[i].type || "all").slice(0, 79) || kind === "hostile", "type " + row.children[0].textContent);
				expect(row.children[3].textContent === "92 %" && row.children[4].textContent === (parts[i].share_low === null ? "96 %" : "96 % (92 … 100 %)"), "shares of " + i + ": " + row.textContent);
				expect(row.children[5].textContent === (parts[i].share_low === null ? "-99 %" : "-99 % (-100 … -98 %)"), "if constant of " + i + ": " + row.textContent);
			});
			/* Without a choice: the heaviest edge that limits throughput. */
			const first = limits[0].edges.filter(i => !R.edges[i].is_idle).sort((a, b) => share(R.edges[b]) - share(R.edges[a]))[0];
			checkEdge(first);
			/* A click tells why, and stands in the address. */
			click(edge(first));
			expect(location.hash === "#e=" + first && edge(first).classList.contains("sel"), "an edge selected: " + location.hash);
			checkEdge(first);
			const other = limits[0].parties[0];
			click(vertex(other));
			expect(location.hash === "#p=" + other && vertex(other).getAttribute("aria-pressed") === "true", "a vertex selected");
			expect($("#why h2").textContent.startsWith(names[other].slice(0, 100)), "details of a vertex");
			expect(!R.parties[other].role || $("#why .role").textContent.startsWith("begins in " + R.parties[other].role.slice(0, 100)), "role of a vertex");
			const out = $("#why ul.edges button");
			out.click();
			expect(/^#e=\d+/.test(location.hash), "from a vertex to its edge");
			/* Keys: to the neighbour, along its edges, choose; next and previous; nothing selected. */
			click(vertex(other));
			vertex(other).focus();
			for (const key of ["ArrowRight", "ArrowLeft"]) if (document.activeElement === vertex(other)) press(vertex(other), key);
			const at = document.activeElement;
			expect(limits[0].parties.length < 2 || (at !== vertex(other) && at.classList.contains("v")), "arrow to a vertex");
			press(at, "e");
			expect(document.activeElement.classList.contains("e"), "e goes to an edge");
			press(document.activeElement, "Enter");
			expect(/^#e=/.test(location.hash), "Enter selects: " + location.hash);
			press(document.body, "Escape");
			expect(location.hash === "", "Escape: " + location.hash);
			press(document.body, "n");
			expect(/^#e=\d+$/.test(location.hash) && location.hash !== "#e=" + first, "next wait");
			press(document.body, "p");
			expect(location.hash === "#e=" + first, "previous wait");
			/* The background is dimmed and below. */
			const set = R.knots.filter(k => k.verdict === "background").flatMap(k => k.parties).filter(vertex);
			const rest = all("#waitfor .v:not(.background)").map(g => box(g).bottom);
			set.forEach(i => expect(vertex(i).classList.contains("background") && box(vertex(i)).top > Math.max(...rest), "not set aside: " + names[i]));
			/* Kinds differ in their shapes. */
			const outline = {};
			R.parties.forEach((p, i) => {
				if (vertex(i)) outline[p.kind] = $(".shape", vertex(i)).getAttribute("d").replace(/[-\d.,]+/g, "");
			});
			for (const k of ["disk", "network", "timer", "interrupt"])
				expect(!outline[k] || !outline.thread || outline[k] !== outline.thread, k + " looks like a thread");
			/* Light ones are folded, and come back. */
			const n = all("#waitfor .v").length;
			expect(n <= 40, "vertices shown: " + n);
			if (R.parties.length > 40) {
				expect(all("#waitfor .k-fold").length > 0, "nothing folded");
				const t = performance.now();
				press(document.body, "f");
				expect(all("#waitfor .v").length === R.parties.length && /all$/.test(location.hash), "all are shown");
				checkPicture("all");
				press(document.body, "f");
				expect(performance.now() - t < 5000, "unfolding took " + (performance.now() - t) + " ms");
			}
			/* What is folded can be found. */
			const light = R.parties.findIndex((p, i) => !vertex(i)), sought = light < 0 ? other : light;
			$("#search").value = names[sought];
			$("#search").dispatchEvent(new Event("input"));
			expect(vertex(sought) && vertex(sought).classList.contains("hit"), "not found: " + names[sought]);
			press($("#search"), "Enter");
			expect(/^#p=/.test(location.hash), "found one is not selected");
			press($("#search"), "Escape");
			/* Paper: as wide as it, and as it was afterwards. */
			dispatchEvent(new Event("beforeprint"));
			expect($("#waitfor").viewBox.baseVal.width === 680, "on paper");
			dispatchEvent(new Event("afterprint"));
			expect($("#waitfor").viewBox.baseVal.width !== 680, "after printing");
		}
		expect(!isWide(), "wider than the window");
	} catch (e) { wrong.push(e.message + " " + e.stack); }
	if (kind === "empty") { finish(); return; }
	/* An address from outside is the state; one that makes no sense is none. */
	location.hash = "#p=" + limits[0].parties[0];
	addEventListener("hashchange", () => {
		if (location.hash === "#e=999999999&p=abc&x") {
			expect(!$("#waitfor .sel") && $("#why h2"), "nonsense in the address selects");
			finish();
		} else {
			expect(vertex(limits[0].parties[0]).classList.contains("sel"), "state from the address");
			location.hash = "#e=999999999&p=abc&x";
		}
	}, { once: false });
});
