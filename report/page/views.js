/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other views of the same run, each the page of its own command in a tree of its own, drawn when it is first seen. A view
 * without data says how to get them. */
const viewData = data.views || {}, drawnViews = new Map();
const viewSections = () => [...root.querySelectorAll("section.view")];
const viewNames = () => viewSections().map(s => s.id);
const viewTitle = name => byId(name).querySelector("h2").textContent;
const hasView = name => !!(viewData[name] && viewData[name].results);
function drawView(name) {
	if (!hasView(name) || drawnViews.has(name)) return;
	const place = el("div.within", { "data-view": name, tabindex: -1 }), tree = place.attachShadow({ mode: "open" });
	drawnViews.set(name, tree);
	tree.append(root.querySelector("style").cloneNode(true), byId(name + "-view").content.cloneNode(true));
	byId(name).append(place);
	byId(name).classList.remove("waiting");
	vprofViews[name](tree, viewData[name]);
}
/* "#waits/e=3" is a place in a view. */
function viewOfAddress() {
	const name = location.hash.slice(1).split("/")[0];
	if (!viewNames().includes(name)) return;
	drawView(name);
	if (location.hash.includes("/")) byId(name).scrollIntoView({ block: "start" });
}
/* Calls of a function as intervals are a view of those runs only that were recorded so. */
function dropInterval() {
	if (viewData.interval) return;
	byId("interval").remove();
	root.querySelector('nav a[href="#interval"]').remove();
}
function otherViews() {
	dropInterval();
	const seen = window.IntersectionObserver &&
		new IntersectionObserver(list => { for (const e of list) if (e.isIntersecting) drawView(e.target.id); }, { rootMargin: "400px" });
	for (const section of viewSections()) {
		if (!hasView(section.id)) {
			section.append(note((viewData[section.id] || {}).missing || "This page was made of the intervals alone."));
			continue;
		}
		section.classList.add("waiting");
		if (seen) seen.observe(section);
		else drawView(section.id);
	}
	addEventListener("beforeprint", () => viewNames().forEach(drawView));
	addEventListener("hashchange", viewOfAddress);
	viewOfAddress();
}
/* What each of them answers, beside the page's own answer. */
function otherAnswers() {
	const list = viewNames().filter(hasView);
	if (!list.length) return null;
	return el("ul.answers", { "aria-label": "Other views of this run" }, list.map(name => el("li", null,
		el("a", { href: "#" + name }, viewTitle(name)), " ", cut(viewData[name].answer, 400),
		viewData[name].warnings.length ? el("span.badge.warn", { title: viewData[name].warnings.join("\n") }, "with a warning") : null)));
}
/* Of a run without intervals these views are all, and how to get the others. */
function withoutIntervals() {
	for (const id of ["spread", "where", "why", "code", "decided", "trust"]) {
		byId(id).remove();
		root.querySelector(`nav a[href="#${id}"]`).remove();
	}
	byId("search").hidden = true;
	byId("causes").append(note(viewData.interval ? "The intervals of this run are calls of a function, inferred from stacks: what varies in them is told below, between bounds. vprof init and vprof iterate measure it exactly." : "No intervals were recorded in this run, so nothing is known of their variance: vprof init marks them, vprof iterate finds what makes them vary."));
	setTitle("vprof: run " + R.run);
	byId("head").append(el("h1", null, "What was recorded", el("span.soft", { style: "font-weight:400" }, "  run " + R.run + (data.date ? ", " + data.date : ""))),
		otherAnswers() || note("Nothing in this run can be analysed."));
	sayMade(`Made by vprof ${data.vprof} from run ${R.run} of ${cut(data.root, 200)}.`);
}
