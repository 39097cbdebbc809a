"use strict";
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every view's script begins with. root: the document, or the shadow tree of a view within another page. */
const byId = id => root.getElementById(id);
@include words.js@
@include shell.js@
