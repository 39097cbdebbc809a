/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands before each of look*.js in the page: how a page is read and worked, and what every page is looked at for. */
const wrong = [], d = document.documentElement.dataset, kind = "@KIND@", $ = (s, e) => (e || document).querySelector(s), all = (s, e) => [...(e || document).querySelectorAll(s)];
const start = performance.now(), data = JSON.parse($("#data").textContent), R = data.results;
const expect = (ok, what) => { if (!ok) wrong.push(what); };
const press = (e, key) => e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const click = e => e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
/* nScripts: data, what the page has, the one that looks; links: where they may lead */
function checkPage(nScripts, links) {
	expect(d.drawn === "1" && !d.failed, "not drawn: " + d.failed);
	expect(d.pwned === undefined, "a name was taken for markup");
	expect(all("script").length === nScripts, "scripts: " + all("script").length);
	expect(!all("img, iframe, object, link").length, "foreign elements");
	expect(!all("[onerror], [onload], [onclick]").length, "handlers in attributes");
	expect(all("a").every(a => links.test(a.getAttribute("href"))), "a link leads elsewhere");
}
function checkView() {
	checkPage(3, /^#/);
	expect($("#answer").textContent === data.answer, "answer");
	expect(all("#head .alert").map(x => x.textContent).join("\n") === data.warnings.join("\n"), "warnings beside it");
	checkControls();
}
function checkControls() {
	expect(all("button, input, select").every(e => (e.textContent || e.getAttribute("aria-label") || "").trim()), "a control without a name");
}
const isWide = () => document.documentElement.scrollWidth > innerWidth + 1;
const finish = () => { d.looked = wrong.length ? "wrong: " + wrong.slice(0, 20).join("; ") : "ok " + Math.round(performance.now() - start) + " ms"; };
