/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that fits: measured in the page's own font, so that it does so in every script and system. */
const pen = document.createElement("canvas").getContext("2d"), family = getComputedStyle(document.body).fontFamily;
const TITLE_FONT = "600 12.5px " + family, LABEL_FONT = "12px " + family, TEXT_MAX = 300;
function textWidth(s, font) {
	pen.font = font;
	return pen.measureText(s).width;
}
/* The longest of shorten(0 .. length) that is at most `room` pixels wide. */
function fit(s, room, font, shorten) {
	if (s.length <= TEXT_MAX && textWidth(s, font) <= room) return s;
	let low = 1, high = Math.min(TEXT_MAX, s.length);
	while (low < high) {
		const n = Math.ceil((low + high) / 2);
		if (textWidth(shorten(s, n), font) <= room) low = n;
		else high = n - 1;
	}
	return shorten(s, low);
}
const fitText = (s, room, font) => fit(s, room, font, (t, n) => t.slice(0, n) + "…");
/* Names differ at their ends as often as at their begins. */
const fitMiddle = (s, room, font) =>
	fit(s, room, font, (t, n) => t.slice(0, n - Math.floor(n / 3)) + "…" + t.slice(t.length - Math.floor(n / 3)));
