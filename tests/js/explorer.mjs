// The explorer's scripts without a page: they share one scope, so chosen names of it are returned.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const folder = new URL("../../src/tagtopics/explore/report/static/", import.meta.url);

export function load(files, names) {
  const settings = { getElementById: () => ({ textContent: "{}" }) };
  const context = vm.createContext({ document: settings, location: { hash: "#/" }, URLSearchParams, URL });
  const text = files.map((name) => readFileSync(new URL(`${name}.js`, folder), "utf8")).join("\n");
  return vm.runInContext(`${text}\n({ ${names.join(", ")} })`, context);
}

// Objects of the other scope, as objects of this one.
export const plain = (value) => JSON.parse(JSON.stringify(value));

// Numbers that look random and are the same every time.
export function numbers(n, seed = 1) {
  let state = seed;
  return Array.from({ length: n }, () => (state = (state * 48271) % 2147483647) / 2147483647);
}
