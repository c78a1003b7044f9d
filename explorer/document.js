// A document: its text coloured by credited tag, its topics, related documents.
import { bdi, button, byId, credited, h, hero, lead, link, percent, plural, remark, s, say, settings, slotHue, topOf, whole } from "./dom.js";
import { badge, body, bytesOf, dateOf, docTopics, huesIn, relatedDocuments, sourceOf, store, tagFull, tagLabel, tagShort, titleOf, topicLabel } from "./data.js";
import { keepState, stateOf, topicHref } from "./address.js";
import { choice, documentRow, freshId, photoOf, tagChip, tagChips } from "./widgets.js";
import { documentFigure, documentItem, ribbon, topicFigure, track } from "./figure.js";
import { missingPage, moreAbout } from "./entity.js";

export function documentPage(d) {
  if (!(d >= 0 && d < store.documents.ids.length)) return missingPage("No such document");
  const tags = store.documents.tags[d];
  const topics = docTopics(d);
  const size = store.documents.tokens[d];
  const what = store.pictures ? "photo" : size ? `document of ${plural(size, "word")}` : "document";
  const reading = h("section", { class: "card reading", "aria-label": "Text" },
    h("p", { class: "wait" }, "Unpacking …"),
  );
  (store.pictures ? photoOf(d) : body(d)).then(
    (found) => (!found ? withoutBody : store.pictures ? pictured : coloured)(reading, found ? { ...found, d } : tags, tags, topics),
    (error) => reading.replaceChildren(h("p", { class: "wrong" }, `The ${store.pictures ? "photo" : "text"} cannot be shown: ${error.message}`)),
  );
  return [
    hero(store.pictures ? "Photo" : "Document", bdi(titleOf(d)),
      sourceLine(d),
      lead(`A ${what} with ${plural(tags.length, "tag")}`, moreAbout(topics)),
      ribbon(topics, huesIn(topics)),
    ),
    h("div", { class: "split wide-left" },
      reading,
      h("div", {}, topicFigure(null, topics, 6, 0.02), relatives(d, huesIn(topics))),
    ),
  ];
}

function sourceLine(d) {
  const source = sourceOf(d);
  const parts = [
    titleOf(d) === store.documents.ids[d] ? null : bdi(store.documents.ids[d]),
    dateOf(d) ? h("span", {}, dateOf(d)) : null,
    source ? h("a", { href: source, rel: "noopener noreferrer external", target: "_blank" }, "Open the source") : null,
  ].filter(Boolean);
  return parts.length ? h("p", { class: "source" }, parts) : null;
}

function withoutBody(box, tags) {
  const why = store.pictures
    ? settings.photos
      ? "This photo was left out because of the size limit of this file (--max-mb), or is not in its folder."
      : "This page was made without the folder of the photos; give it with --images."
    : settings.live || store.documents.tokens.every((n) => n === 0)
      ? "The model was saved without its corpus; give it with --corpus to see texts."
      : "The text of this document was left out because of the size limit of this file (--max-mb).";
  box.replaceChildren(remark(why), tagChips(tags));
}

// A photo with the heat map of one of its tags.
export function pictured(box, picture, tags) {
  if (!picture.h) {
    box.replaceChildren(
      h("div", { class: "photograph small" }, h("img", { src: `data:image/jpeg;base64,${picture.j}`, alt: "The photograph" })),
      tags.length ? remark(`A small copy. This file has heat maps of ${whole(settings.heated)} photos; tagtopics serve shows those of all.`) : "",
      tagChips(tags),
    );
    return;
  }
  const size = picture.r * picture.c;
  const heat = bytesOf(picture.h);
  const most = Math.max(1, ...heat);
  const canvas = h("canvas", { width: picture.c, height: picture.r, "aria-hidden": "true" });
  const image = h("img", { src: `data:image/jpeg;base64,${picture.j}`, alt: "The photograph" });
  const frame = h("div", { class: "photograph" }, image, canvas);
  const input = (event) => canvas.style.setProperty("opacity", event.target.value);
  const slider = h("label", { class: "heat-slider" }, "Strength", h("input", { type: "range", min: 0, max: 1, step: 0.05, value: 1, on: { input } }));
  const legend = heatLegend(most / 255);
  const show = (j) => {
    const pixels = new ImageData(picture.c, picture.r);
    for (let i = 0; i < size; i++) {
      const x = j < 0 ? 0 : heat[j * size + i] / most;
      pixels.data.set([255, 60 + 195 * x, 40 + 60 * x * x, j < 0 ? 0 : 20 + 150 * x], 4 * i);
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    frame.classList.toggle("heated", j >= 0);
    legend.hidden = slider.hidden = j < 0;
  };
  const share = (j) => {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += heat[j * size + i];
    return sum / (255 * size);
  };
  const options = [["-1", "photograph"], ...tags.map((t, j) => [String(j), `${tagShort(t)} ${percent(share(j))}`])];
  box.replaceChildren(
    choice("Show", freshId("heat"), options, "-1", (value) => show(Number(value))),
    frame,
    slider,
    legend,
    remark("Percentages: how much of the photo each of its tags accounts for, together 100 %. Colour: how much of each part of it."),
    tagChips(tags),
  );
  show(-1);
}

// All tags of a photo have one scale: its end is the highest share that any of them has anywhere.
const heatLegend = (most) =>
  h("p",
    { class: "heat-legend", role: "img", "aria-label": `Scale of colours: from ${percent(0)} to ${percent(most)}` },
    h("span", {}, percent(0)),
    h("i", {}),
    h("span", {}, percent(most)),
  );

// The text, or its words, as pieces { text, word }; word is an index in body.w or undefined.
function piecesOf(found) {
  if (found.t === undefined || !found.s.length) {
    const order = topOf(found.n, found.w.length);
    return order.flatMap((i) => [{ text: store.words.names[found.w[i]], word: i, count: found.n[i] }, { text: " " }]);
  }
  const pieces = [];
  let at = 0;
  for (let i = 0; i < found.s.length; i += 3) {
    if (found.s[i]) pieces.push({ text: found.t.slice(at, at + found.s[i]) });
    at += found.s[i];
    pieces.push({ text: found.t.slice(at, at + found.s[i + 1]), word: found.s[i + 2] });
    at += found.s[i + 1];
  }
  pieces.push({ text: found.t.slice(at) });
  return pieces;
}

// Fills `box` with a coloured text. `found` is a body, `tags` are the numbers of its tags.
export function coloured(box, found, tags, topics) {
  const hueOf = huesIn(topics);
  const n = tags.length;
  const credit = (i, j) => found.c[i * n + j] / 255;
  const usual = found.c && n ? "tag" : "topic";
  const asked = stateOf().get("colour");
  const state = { by: asked === "topic" || asked === "none" ? asked : usual, on: tags.map(() => true) };
  const isText = found.t !== undefined && found.s.length > 0;
  const text = h("div", {
    class: isText ? "text" : "text bag", role: "group", tabindex: "0", dir: "auto",
    "aria-label": "Words of the document; use the arrow keys to move between words",
  });
  const marks = [];
  const strip = s("svg", { class: "strip", viewBox: `0 0 ${Math.max(n, 1)} 1`, preserveAspectRatio: "none", "aria-hidden": "true", vars: { "--n": n } });
  let at = 0; // characters before a piece
  text.append(
    ...piecesOf(found).map((piece) => {
      at += piece.text.length;
      if (piece.word === undefined) return piece.text;
      const node = h("span", { class: "w", "data-w": marks.length }, piece.text);
      if (!isText) node.style.setProperty("--size", Math.min(1 + Math.log(piece.count) * 0.22, 2).toFixed(2));
      marks.push([node, piece.word, at - piece.text.length, piece.text.length]);
      return node;
    }),
  );
  const paint = () => {
    const told = marks.map(([node, i, y, height]) => {
      const [hue, part, j] = colourOf(i);
      node.style.setProperty("--hue", hue);
      node.style.setProperty("--a", part.toFixed(3));
      return part > 0.2 && j >= 0 ? s("rect", { x: j + 0.1, y: (y / at).toFixed(4), width: 0.8, height: Math.max(height / at, 0.004), "fill-opacity": part.toFixed(2), vars: { "--hue": hue } }) : null;
    });
    strip.replaceChildren(...told.filter(Boolean));
    strip.toggleAttribute("hidden", !isText || state.by !== "tag");
    toggles.hidden = reading.hidden = state.by !== "tag";
  };
  function colourOf(i) {
    if (state.by === "none") return [0, 0];
    if (state.by === "topic") return [hueOf(found.k[i]), 0.7];
    const [best = -1, next = -1] = topOf(tags.map((_, j) => credit(i, j)), 2, [...tags.keys()].filter((j) => state.on[j]));
    return best < 0 ? [0, 0] : [slotHue(best), strength(credit(i, best) - (next < 0 ? 0 : credit(i, next)), n), best];
  }
  const all = found.n.reduce((sum, count) => sum + count, 0);
  const meanCredit = (j) => found.n.reduce((sum, count, i) => sum + count * credit(i, j), 0) / Math.max(all, 1);
  const part = found.f || tags.map((_, j) => (found.c ? meanCredit(j) : 0));
  const toggle = (t, j) => {
    const click = (event) => {
      state.on[j] = !state.on[j];
      event.currentTarget.setAttribute("aria-pressed", String(state.on[j]));
      paint();
    };
    const parts = [h("i", {}), tagLabel(t), found.c ? h("small", {}, percent(part[j])) : null];
    return button(parts, click, { class: "toggle", "aria-pressed": "true", vars: { "--hue": slotHue(j) } });
  };
  const modes = [...(usual === "tag" ? [["tag", "tag"]] : []), ["topic", "topic"], ["none", "nothing"]];
  const name = "Tags; press to hide one";
  const reading = h("span", {}, "The strip shows where in the text each tag speaks; lines below words are thicker where one tag is far ahead. Point at a word, or use the arrow keys, to see how likely each tag accounts for it. These credits are about vocabulary, not about who contributed what. ");
  const toggles = h("div", { class: "toggles", role: "group", "aria-label": name }, tags.map(toggle));
  box.replaceChildren(
    choice("Colour by", freshId("by"), modes, state.by, (mode) => {
      state.by = mode;
      keepState("colour", mode, usual);
      paint();
    }),
  );
  box.append(
    toggles,
    found.cut ? remark("Only the beginning of this long text is shown.") : "",
    h("div", { class: "read" }, strip, text),
    remark(reading, h("span", { class: "tagline" }, tags.map((t) => tagChip(t)))),
  );
  explaining(text, marks, (i) => tipOf(found, i, credit, tags, hueOf));
  paint();
}

// Opacity of a word's colour: pale if two tags are equally likely, full if one is far ahead of the next.
const strength = (lead, n) => (n < 2 ? 0.7 : 0.2 + 0.8 * Math.min(1, lead / 0.4));

// How many other documents of a tag have a word, if they are few enough to be read now.
const MOST_READ = 60;
async function usesElsewhere(t, w, d) {
  const n = store.tags.documents[t];
  const others = store.docsOfTag[t].filter((e) => e !== d);
  if (n < 5) return `Little is known of ${tagShort(t)}: it is on ${plural(n, "document")}.`;
  if (n > MOST_READ || !others.length) return "";
  const found = (await Promise.all(others.map(body))).filter(Boolean);
  return found.length ? `In ${whole(found.filter((one) => one.w.includes(w)).length)} of ${plural(found.length, "other document")} of ${tagShort(t)}.` : "";
}

function tipOf(found, i, credit, tags, hueOf) {
  const rows = tags.map((t, j) => [tagFull(t), found.c ? credit(i, j) : 0, j]).sort((a, b) => b[1] - a[1]);
  const k = found.k[i];
  const row = ([name, p, j]) =>
    h("li", {},
      h("span", { class: "label" }, bdi(name)),
      track({ value: p < 0.005 ? 0 : p, hue: slotHue(j) }, 1),
      h("span", { class: "figure" }, credited(p)),
    );
  const evidence = h("p", { class: "evidence" });
  const first = found.c && rows.length ? tags[rows[0][2]] : undefined;
  if (first >= 0) usesElsewhere(first, found.w[i], found.d).then((text) => (evidence.textContent = text));
  return [
    h("p", { class: "tipword" }, bdi(store.words.names[found.w[i]])),
    found.c ? h("ul", { class: "bars" }, rows.slice(0, 8).map(row)) : null,
    evidence,
    h("p", { class: "tiptopic" }, badge(k, hueOf(k)), topicLabel(k)),
  ];
}

// A tooltip that follows the pointer over words, or the arrow keys.
function explaining(text, marks, draw) {
  const tip = byId("tip");
  let at = -1;
  const hide = () => {
    tip.hidden = true;
    if (marks[at]) marks[at][0].classList.remove("here");
  };
  const showAt = (index, aloud) => {
    hide();
    at = index;
    const [node, word] = marks[index];
    node.classList.add("here");
    tip.replaceChildren(...draw(word).filter(Boolean));
    tip.hidden = false;
    const place = node.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left), document.documentElement.clientWidth - tip.offsetWidth - 8);
    const below = place.bottom + tip.offsetHeight + 12 < window.innerHeight;
    tip.style.setProperty("left", `${left + window.scrollX}px`);
    tip.style.setProperty("top", `${(below ? place.bottom + 6 : place.top - tip.offsetHeight - 6) + window.scrollY}px`);
    if (aloud) {
      node.scrollIntoView({ block: "nearest" });
      say(tip.innerText.replace(/\s*\n\s*/g, ", "));
    }
  };
  text.addEventListener("mouseover", (event) => {
    const node = event.target.closest(".w");
    if (node) showAt(Number(node.dataset.w));
  });
  text.addEventListener("mouseleave", hide);
  text.addEventListener("click", (event) => {
    const node = event.target.closest(".w");
    if (node) showAt(Number(node.dataset.w));
  });
  text.addEventListener("blur", hide);
  text.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || !marks.length) return;
    event.preventDefault();
    showAt((at + step + marks.length) % marks.length, true);
  });
}

function relatives(d, hueOf) {
  const rows = relatedDocuments(d, 8).map((row) => ({ ...documentItem(row.doc, row.score, percent(row.score)), reasons: () => reasonsOf(row, hueOf) }));
  const own = { title: "Related documents", question: "Documents with similar topics, and the tags they share.", rows, axis: "Overlap of topics" };
  return documentFigure(own, (row) => documentRow(row.d, { figure: row.text, reasons: row.reasons() }));
}

const reasonsOf = (row, hueOf) =>
  h("p", { class: "reasons" },
    row.topics.map((k) => link(topicHref(k), { class: "reason" }, badge(k, hueOf(k)), topicLabel(k, 2))),
    row.tags.slice(0, 5).map((t) => tagChip(t)),
  );
