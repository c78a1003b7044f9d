// What the explorer's modules expect of a page: import it before them.
Object.assign(globalThis, {
  document: { getElementById: () => ({ textContent: "{}" }) },
  location: { hash: "#/" },
});

// Numbers that look random and are the same every time.
export function numbers(n, seed = 1) {
  let state = seed;
  return Array.from({ length: n }, () => (state = (state * 48271) % 2147483647) / 2147483647);
}
