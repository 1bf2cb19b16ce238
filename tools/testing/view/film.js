// SPDX-License-Identifier: GPL-2.0
// film.js PAGE.html: the first picture of a page as an SVG that plays by itself, on standard
// output. Documentation/pictures/ring8.svg is made by
//   pwmodel aton add 3 1 4 1 5 9 2 6 --capture ring.pcap && pwctl view ring.pcap && node film.js ring.html
"use strict";
const text = require("fs").readFileSync(process.argv[2], "utf8"), module_ = { exports: {} };

new Function("module", text.match(/<script id="logic">([^]*?)<\/script>/)[1])(module_);
const PW = module_.exports, v = PW.load(JSON.parse(text.match(/id="data">([^]*?)<\/script>/)[1])).views[0];
const css = text.match(/<style id="colours">([^]*?)<\/style>/)[1].trim();
process.stdout.write(PW.film(v, 0, v.events.length - 1, css).replace(/<style>/, "<!-- SPDX-License-Identifier: GPL-2.0 --><style>"));
