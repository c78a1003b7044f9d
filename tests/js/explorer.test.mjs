// Functions of the explorer that need no page: `make js-check`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { polygonContains } from "d3-polygon";

import { numbers } from "./page.mjs"; // before the modules, which expect a page
import { hashWith } from "../../explorer/address.js";
import { TEN, tenth } from "../../explorer/colours.js";
import { store, tagBare, tagShort } from "../../explorer/data.js";
import { inLines, percent, times, topOf, whole, wrapped } from "../../explorer/dom.js";
import { endsOf, meets } from "../../explorer/labels.js";
import { axisOf, csvOf } from "../../explorer/pictures.js";
import { outlineOf } from "../../explorer/figure.js";
import { Points, packedColour, rgbOf } from "../../explorer/points.js";
import { editDistance, foldedText, foundAt, termsOf } from "../../explorer/texts.js";

test("the largest values come first, the first of equals first", () => {
  const values = numbers(500).map((x) => Math.floor(20 * x));
  const order = [...values.keys()].sort((a, b) => values[b] - values[a] || a - b);
  for (const n of [0, 1, 3, 30, 31, 32, 500, 900]) assert.deepEqual(topOf(values, n), order.slice(0, n));
  assert.deepEqual(topOf(values, 2, [5, 6, 7]), [5, 6, 7].sort((a, b) => values[b] - values[a] || a - b).slice(0, 2));
});

test("numbers are written with few digits", () => {
  assert.deepEqual([0, 0.0042, 0.0123, 0.0999, 0.5].map(percent), ["0\u00a0%", "0.42\u00a0%", "1.2\u00a0%", "10\u00a0%", "50\u00a0%"]);
  assert.equal(whole(12345.6), "12,346");
  assert.deepEqual([1.26, 12.6].map(times), ["×1.3", "×13"]);
});

test("ticks are round, even, begin at 0 and reach the largest value", () => {
  for (const most of [...numbers(200).map((x, i) => x * 10 ** ((i % 9) - 4)), 0.07, 1, 2052, 1e-9])
    for (const n of [2, 4]) {
      const { scale, ticks } = axisOf(most, [30, 10], n);
      assert.equal(ticks[0], 0);
      assert.ok(ticks.length >= 2 && ticks.length <= 2 * n, `${most}: ${ticks}`);
      assert.ok(ticks.at(-1) >= most * (1 - 1e-6) && ticks.at(-2) < most, `${most}: ${ticks}`);
      assert.match(Number(ticks[1].toPrecision(9)).toExponential(), /^[125]e/);
      ticks.forEach((tick, i) => assert.ok(Math.abs(tick - i * ticks[1]) <= 1e-9 * ticks.at(-1)));
      assert.deepEqual([0, ticks.at(-1)].map(scale), [30, 10]);
    }
});

test("tables have every row, and no cell that a spreadsheet runs", () => {
  const rows = [{ id: 1, name: 'a "b", c', value: 0.05, text: "5 %" }, { name: "=1+1", text: "-" }];
  const lines = csvOf({ rows }).split("\r\n");
  assert.deepEqual(lines, ['"id","name","value","shown"', '1,"a ""b"", c",0.05,"5 %"', '"","\'=1+1","","\'-"', ""]);
});

test("texts are wrapped at spaces and lose no word", () => {
  const text = "one two three fourfivesixseveneight nine";
  for (const n of [1, 8, 15, 80]) {
    const lines = wrapped(text, n);
    assert.equal(lines.join(" "), text);
    for (const line of lines) assert.ok(line.length <= n || !line.includes(" "));
  }
});

test("accents and case do not matter, and places lead back to the text", () => {
  const places = [];
  assert.equal(foldedText("Ünïté 𝄞 É", places), "unite 𝄞 e");
  assert.equal("Ünïté 𝄞 É".slice(places[9]), "É");
  assert.deepEqual(termsOf('"New York" crude'), ["new york", "crude"]);
  assert.equal(foundAt("carpet pet", "pet"), 7);
});

test("edit distances count transpositions, up to a limit", () => {
  for (const [a, b, expected] of [["voilin", "violin", 1], ["kitten", "sitting", 3], ["abc", "abc", 0], ["abcdef", "uvwxyz", 4]])
    assert.equal(editDistance(a, b, 3), expected);
});

test("addresses keep other parameters", () => {
  assert.equal(hashWith("#/?a=1&b=2", { b: null, c: "x y" }), "#/?a=1&c=x+y");
  assert.equal(hashWith("", { a: null }), "#/");
});

test("long names are divided into even lines", () => {
  assert.deepEqual(inLines("short name"), ["short name"]);
  for (const name of ["machine translation, quality, error correction", "pretrained models, fine tuning", "averyverylongwordwithoutspace"])
    assert.equal(inLines(name).join(" "), name);
});

test("a line passes through a box or not", () => {
  const box = { left: 10, top: 10, right: 20, bottom: 20 };
  const lines = [[0, 0, 30, 30], [0, 15, 30, 15], [0, 0, 5, 5], [0, 30, 9, 0], [15, 15, 15, 40], [12, 12, 12, 13]];
  assert.deepEqual(lines.map(([ax, ay, bx, by]) => meets(box, { ax, ay, bx, by })), [true, true, false, false, true, true]);
});

test("the nearest point is the one that a search of all finds", () => {
  const [x, y] = [numbers(400, 3), numbers(400, 7)];
  const map = new Points(Float32Array.from(x), Float32Array.from(y));
  map.rank[10] = 0;
  for (const [px, py] of numbers(60, 5).map((v, i, all) => [v, all[(i + 7) % 60]])) {
    const apart = x.map((_, i) => (i === 10 ? Infinity : Math.hypot(map.x[i] - px, map.y[i] - py)));
    const best = apart.indexOf(Math.min(...apart));
    assert.equal(map.nearest(px, py, 0.05), apart[best] <= 0.05 ? best : -1);
  }
});

test("colours are those of CSS", () => {
  // Values of the CSS Color 4 specification for oklch(), rounded.
  assert.equal(rgbOf(packedColour(1, 0, 0)), "rgb(255,255,255)");
  assert.equal(rgbOf(packedColour(0, 0, 0)), "rgb(0,0,0)");
  assert.equal(rgbOf(packedColour(0.51975, 0.17686, 142.495)), "rgb(0,128,0)");
});

const root = new URL("../../", import.meta.url);
const modules = readdirSync(new URL("explorer/", root)).map((name) => readFileSync(new URL(`explorer/${name}`, root), "utf8"));

test("the script of the page is what the modules build", () => {
  const [, ...options] = JSON.parse(readFileSync(new URL("package.json", root), "utf8")).scripts.build.split(" ");
  const [, file] = options.pop().split("--outfile=");
  const built = execFileSync("node_modules/.bin/esbuild", options, { cwd: root, encoding: "utf8" });
  assert.ok(built === readFileSync(new URL(file, root), "utf8"), "make js builds it");
  assert.ok(Buffer.byteLength(built) <= 200_000 && !/<\/script|<!--/i.test(built));
});

test("imports have no cycles", () => {
  const left = new Map(readdirSync(new URL("explorer/", root)).map((name, i) => [name, [...modules[i].matchAll(/ from "\.\/(.*)";$/gm)].map((match) => match[1])]));
  for (let n = left.size + 1; n > left.size; ) {
    n = left.size;
    for (const [name, needed] of left) if (!needed.some((one) => left.has(one))) left.delete(name);
  }
  assert.deepEqual([...left.keys()], []);
});

test("what a module exports is imported elsewhere", () => {
  const tests = readFileSync(import.meta.filename, "utf8");
  const imported = new Set([...modules, tests].flatMap((text) => [...text.matchAll(/^import \{ (.*) \} from "\.+\//gm)]).flatMap(([, names]) => names.split(", ")));
  imported.add("wordsOfText"); // by tests/explore
  const exported = modules.flatMap((text) => [...text.matchAll(/^export (?:async )?(?:const|let|function|class) (?:\[(.*?)\]|(\w+))/gm)]).flatMap(([, some, one]) => (some ? some.split(", ") : [one]));
  assert.ok(exported.length > 100);
  assert.deepEqual(exported.filter((name) => !imported.has(name)), []);
});

// OKLab of linear RGB, and linear RGB as people without green cones see it (Machado, Oliveira and Fernandes, 2009).
const times3 = (rows, v) => rows.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));
const linear = (packed) => [0, 8, 16].map((shift) => ((packed >>> shift) & 255) / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
const oklab = (rgb) =>
  times3([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
    times3([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb.map((x) => Math.min(Math.max(x, 0), 1))).map(Math.cbrt));
const withoutGreen = (rgb) => times3([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]], rgb);

test("the ten colours of tags are told apart, also without green cones", () => {
  assert.equal(TEN.length, 10);
  for (const dark of [false, true])
    for (const see of [(rgb) => rgb, withoutGreen]) {
      const seen = TEN.map((colour) => oklab(see(linear(tenth(colour, dark)))));
      const apart = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => Math.hypot(...a.map((x, j) => x - b[j]))));
      assert.ok(Math.min(...apart) > 0.1, `dark ${dark}: ${Math.min(...apart)}`); // 0.02 is just seen
    }
});

test("outlines are closed, around the places that are dense, and not around single ones", () => {
  const around = (x, y, seed) => numbers(200, seed).map((v, i, all) => [x + 20 * v, y + 20 * all[(i + 71) % 200]]);
  const places = [...around(60, 60, 3), ...around(220, 150, 5), [150, 20], [20, 180]];
  const lines = outlineOf(places, 200).split("M").filter(Boolean).map((one) => one.match(/^(.*)Z+$/)[1].split(/L|Z/).filter(Boolean).map((place) => place.split(",").map(Number)));
  assert.equal(lines.length, 2);
  const among = (place) => lines.filter((line) => polygonContains(line, place)).length;
  assert.deepEqual([[70, 70], [230, 160], [150, 20], [20, 180]].map(among), [1, 1, 0, 0]);
});

test("the name of a topic stays near its place, whatever single documents are far away", () => {
  const [x, y] = [numbers(200, 3), numbers(200, 4)];
  store.map = { x, y };
  for (const [a, b] of [[0.2, 0.3], [0.9, 0.9]]) {
    const ends = endsOf([...x.keys()], a, b);
    assert.deepEqual(ends[0], [a, b]);
    assert.ok(ends.length > 3);
    for (const [c, d] of ends) assert.ok(Math.hypot(c - a, d - b) < 0.1);
  }
});

test("tags of two kinds with one name keep their kinds", () => {
  const names = ["package:numpy", "subpackage:numpy", "package:scipy"];
  Object.assign(store, { tags: { names, labels: null, kinds: { names: ["package", "subpackage"] } }, kindOf: [0, 1, 0], homonyms: new Set([0, 1]) });
  assert.deepEqual(names.map((_, t) => tagShort(t)), ["package:numpy", "subpackage:numpy", "scipy"]);
  assert.deepEqual(names.map((_, t) => tagBare(t)), ["numpy", "numpy", "scipy"]);
});
