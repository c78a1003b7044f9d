// A small checker in the manner of axe: returns a list of what is wrong with the page, empty if nothing.
() => {
  const wrong = [];
  const seen = (el) => { const box = el.getBoundingClientRect(); const style = getComputedStyle(el); return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && style.display !== "none" && !el.closest("[hidden]"); };
  const where = (el) => `${el.tagName.toLowerCase()}${el.id ? "#" + el.id : ""}.${el.getAttribute("class") || ""} "${(el.textContent || "").trim().slice(0, 30)}"`;
  const name = (el) => {
    const by = (el.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent || "").join(" ");
    const label = el.id ? document.querySelector(`label[for="${CSS.escape(el.id)}"]`)?.textContent : "";
    return (by || el.getAttribute("aria-label") || label || el.closest("label")?.textContent || el.innerText || el.textContent || el.getAttribute("title") || "").trim();
  };
  if (!document.documentElement.lang) wrong.push("html has no lang");
  if (!document.title.trim()) wrong.push("no title");
  for (const [what, selector, n] of [["main", "main", 1], ["banner", "body > header", 1], ["footer", "body > footer", 1], ["h1", "h1", 1]]) if (document.querySelectorAll(selector).length !== n) wrong.push(`${document.querySelectorAll(selector).length} of ${what}`);
  document.querySelectorAll("nav").forEach((el) => { if (!name(el)) wrong.push("nav without a name"); });
  let level = 0;
  document.querySelectorAll("h1,h2,h3,h4").forEach((el) => { const own = Number(el.tagName[1]); if (own > level + 1) wrong.push(`heading skips a level: ${where(el)}`); level = own; if (!name(el)) wrong.push(`empty heading ${where(el)}`); });
  const ids = [...document.querySelectorAll("[id]")].map((el) => el.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => wrong.push(`id twice: ${id}`));
  document.querySelectorAll("[aria-controls],[aria-labelledby],[aria-activedescendant],label[for]").forEach((el) => {
    for (const attribute of ["aria-controls", "aria-labelledby", "aria-activedescendant", "for"]) (el.getAttribute(attribute) || "").split(/\s+/).filter(Boolean).forEach((id) => { if (!document.getElementById(id)) wrong.push(`${attribute} of ${where(el)} points nowhere`); });
  });
  document.querySelectorAll("a[href],button,input,textarea,select,[role=combobox],[role=listbox],[role=group],[role=img],fieldset").forEach((el) => { if (!name(el)) wrong.push(`no name: ${where(el)}`); });
  document.querySelectorAll("[tabindex]").forEach((el) => { if (el.tabIndex > 0) wrong.push(`tabindex above 0: ${where(el)}`); });
  document.querySelectorAll("svg").forEach((el) => { if (el.getAttribute("aria-hidden") !== "true" && !el.getAttribute("role")) wrong.push(`svg without a role: ${where(el)}`); });
  document.querySelectorAll("ul,ol").forEach((el) => [...el.children].forEach((child) => { if (child.tagName !== "LI") wrong.push(`${where(el)} holds ${child.tagName}`); }));
  document.querySelectorAll("dl").forEach((el) => [...el.children].forEach((child) => { if (!["DT", "DD", "DIV"].includes(child.tagName)) wrong.push(`${where(el)} holds ${child.tagName}`); }));
  document.querySelectorAll("[role=option]").forEach((el) => { if (!el.closest("[role=listbox]")) wrong.push(`option outside of a listbox ${where(el)}`); });

  // Contrast, with colours as the browser itself mixes them.
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const paint = (layers) => { context.clearRect(0, 0, 1, 1); layers.forEach((colour) => { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }); return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => { const x = v / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const layersUnder = (el) => { const layers = []; for (let at = el; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor); return ["#fff", ...layers]; };
  const checked = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const el = node.parentElement;
    if (!node.textContent.trim() || checked.has(el) || !seen(el) || el.closest("script,noscript,.hidden,.skip,option,select")) continue;
    checked.add(el);
    const style = getComputedStyle(el);
    let under = layersUnder(el); let colour = style.color;
    if (el.namespaceURI.endsWith("svg")) {
      colour = style.fill;
      under = layersUnder(el.closest("svg"));
    }
    const [a, b] = [light(paint(under)), light(paint([...under, colour]))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 600) ? 3 : 4.5;
    if (ratio < least) wrong.push(`contrast ${ratio.toFixed(2)}: ${where(el)}`);
  }
  return wrong;
}
