// The workbench: analyse a new text, accept or refuse recommended tags, export the result.
import { dsvFormat } from "d3-dsv";
import { action, bdi, clamped, h, hero, keep, keepingFocus, kept, lead, link, percent, plural, remark, settings, topOf, whole } from "./dom.js";
import { badge, body, huesIn, numbersOfTags, placeOf, store, tellingTopics, topicLabel, topicName } from "./data.js";
import { topicHref } from "./address.js";
import { chosenTags, growing, tagBox, tagChip } from "./widgets.js";
import { cell, download } from "./pictures.js";
import { barFigure, card, documentFigure, documentItem, placesFigure, topicFigure } from "./figure.js";
import { answersFor, documentsIn, landing, loadBench } from "./offline.js";
import { coloured, pictured } from "./document.js";

const bench = { text: "", tags: [], refused: [], answers: null, undo: [], kept: [], read: false, asked: 0 };
const MOST_PROPOSALS = 12;

export function workbenchPage() {
  return !settings.live || settings.offers.includes("transform") ? textBench() : photographBench();
}

const benchHead = (title, text) => hero("Workbench", title, lead(text));
const namesOf = (tags) => tags.map((t) => store.tags.names[t]);

// A new photo: its tags, and where in the photo each of them is.
function photographBench() {
  const result = h("div", { "aria-live": "polite" });
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const ask = async (file) => {
    if (!file) return;
    wrong.hidden = true;
    try {
      const headers = { "Content-Type": "application/octet-stream" };
      const answer = await fetch("api/v1/photograph", { method: "POST", headers, body: file });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.detail);
      result.replaceChildren(photographResult(found));
    } catch (error) {
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
  };
  const change = (event) => ask(event.target.files[0]);
  const dragover = (event) => event.preventDefault();
  const drop = (event) => {
    event.preventDefault();
    ask(event.dataTransfer.files[0]);
  };
  return [
    benchHead("Analyse a new photo", "Recommended tags, and where in the photo each of them is."),
    h("section", { class: "card bench drop", "aria-label": "New photo", on: { dragover, drop } },
      h("label", { for: "bench-file" }, "Choose a photo, or drop one here"),
      h("input", { id: "bench-file", type: "file", accept: "image/*", on: { change } }),
      wrong,
    ),
    result,
  ];
}
function photographResult(found) {
  const tags = numbersOfTags(found.tags);
  const reading = h("section", { class: "card reading", "aria-label": "Photo by tag" });
  pictured(reading, { j: found.jpeg, r: found.rows, c: found.columns, h: found.heat }, tags);
  const rows = found.scores.map((value, i) => ({ id: found.tags[i], name: found.tags[i], label: bdi(found.tags[i]), value, text: percent(value), href: `#/tag/${tags[i]}` }));
  return h("div", { class: "split" },
    reading,
    h("div", {},
      barFigure({ title: "Recommended tags", question: "How probable each tag is for this photo.", rows, axis: "Probability", most: 1 }),
      topicFigure(null, found.topics, 6, 0.02),
    ),
  );
}

function textBench() {
  readBench();
  const input = (event) => {
    bench.text = event.target.value;
    clearTimeout(bench.saving);
    bench.saving = setTimeout(saveBench, 300);
  };
  const area = h("textarea", { id: "bench-text", maxlength: 100000, placeholder: "Paste a text …", on: { input } });
  area.value = bench.text;
  const result = h("div", { id: "bench-result", "aria-live": "polite" });
  const chosen = h("div", { class: "picker" });
  const done = h("div", { class: "row" });
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const ask = async () => {
    if (!bench.text.trim()) return area.focus();
    wrong.hidden = true;
    result.setAttribute("aria-busy", "true");
    if (!bench.answers) result.replaceChildren(h("p", { class: "wait" }, "Analysing …"));
    const number = ++bench.asked; // an answer that a later question has overtaken is not shown
    try {
      const answers = await answersFor(bench.text, bench.tags);
      if (number !== bench.asked) return;
      bench.answers = answers;
      const focused = document.activeElement && document.activeElement.getAttribute("data-focus");
      result.replaceChildren(...benchResult(again));
      const same = focused && [...result.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === focused);
      if (same) same.focus();
    } catch (error) {
      if (number !== bench.asked) return;
      bench.answers = null;
      result.replaceChildren();
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
    result.setAttribute("aria-busy", "false");
  };
  const again = () => {
    saveBench();
    keepingFocus([chosen], drawChosen);
    ask();
  };
  const example = async () => {
    const found = await body(Math.floor(settings.bodies / 2));
    area.value = bench.text = (found && found.t) || "";
    again();
  };
  const next = () => {
    const { text, tags, refused } = bench;
    const topics = bench.answers ? { topics: bench.answers.topics.topics } : {};
    if (text.trim()) bench.kept.push({ text, tags: namesOf(tags), refused: namesOf(refused), ...topics });
    Object.assign(bench, { text: "", tags: [], refused: [], undo: [], answers: null });
    saveBench();
    bench.asked++;
    area.value = "";
    result.replaceChildren();
    result.setAttribute("aria-busy", "false");
    drawChosen();
    drawDone();
    area.focus();
  };
  const setTags = (tags) => {
    bench.tags = tags;
    again();
  };
  const drawChosen = () =>
    chosen.replaceChildren(
      chosenTags("Accepted tags", bench.tags, 0, (t) => setTags(bench.tags.filter((u) => u !== t))) || "",
      store.tags.names.length ? tagBox("Tags of the text", bench.tags, (t) => setTags([...bench.tags, t])) : "",
    );
  const forget = () => {
    bench.kept = [];
    saveBench();
    drawDone();
    area.focus();
  };
  const drawDone = () => done.replaceChildren(...(bench.kept.length ? doneTexts(forget) : []));
  drawDone();
  drawChosen();
  if (!settings.live) setTimeout(loadBench, 100); // ready by the time that a text is pasted
  if (bench.answers) result.replaceChildren(...benchResult(again));
  return [
    benchHead("Analyse a new text", "Its topics, recommended tags with reasons, and related documents."),
    h("section", { class: "card bench", "aria-label": "New text" },
      h("label", { for: "bench-text" }, "Text"),
      area,
      chosen,
      h("div", { class: "row" }, action("Analyse", ask, { class: "action main" }), action("Keep it, next text", next), settings.bodies ? action("Try an example", example) : null),
      done,
      wrong,
    ),
    result,
    batchCard(),
  ];
}
function doneTexts(forget) {
  const lines = () => bench.kept.map((one) => `${JSON.stringify(one)}\n`).join("");
  return [
    h("span", { class: "note" }, `${plural(bench.kept.length, "text")} kept in this browser`),
    action("Export them as JSON lines", () => download("texts.jsonl", "application/x-ndjson", lines())),
    action("Forget them", forget),
  ];
}

function benchResult(again) {
  const { topics, related, explained, recommended } = bench.answers;
  const near = documentsIn(related);
  const [x, y, spread] = landing(near);
  const reading = h("section", { class: "card reading", "aria-label": "Text by tag" });
  if (explained) coloured(reading, bodyOf(explained), numbersOfTags(explained.tags), topics.topics);
  return [
    remark(`${plural(topics.known_words, "word")} known to the model, ${whole(topics.unknown_words)} unknown.`),
    h("div", { class: "split" },
      h("div", {},
        topicFigure(null, topics.topics, 8),
        explained ? reading : null,
        bench.answers.read ? readingByTopic(bench.answers.read, huesIn(topics.topics)) : null,
      ),
      h("div", {}, card("Recommended tags", "Percentage: how probable the tag is. Below it: the words of the text that speak for it.", proposals(recommended, again))),
    ),
    h("div", { class: "split wide-left" },
      documentFigure({
        title: "Related documents", question: "Documents that probably share a tag, or whose words and topics are similar.", axis: "How related",
        rows: near.map(({ d, score }) => documentItem(d, score, percent(score))),
      }),
      near.length
        ? placesFigure(`The text is at the weighted mean of its ${plural(near.length, "nearest document")}; the circle shows how far they spread.`, [
            { name: "nearest documents", docs: near.map(({ d }) => d), hue: 255 }, { name: "the text", docs: [], places: [[x, y]], spread },
          ], null)
        : null,
    ),
  ];
}

// An explanation from the server as a stored body. Its spans are in code points; the page uses UTF-16 units.
function bodyOf(explained) {
  const points = [0];
  for (const character of explained.text) points.push(points[points.length - 1] + character.length);
  const number = placeOf("word", store.words.names);
  const spans = [];
  let before = 0;
  for (const [start, stop, word] of explained.spans) {
    spans.push(points[start] - before, points[stop] - points[start], word);
    before = points[stop];
  }
  return {
    t: explained.text, s: spans,
    w: explained.words.map((name) => number.get(name)),
    n: explained.counts,
    k: explained.word_topics,
    c: explained.credit.flat().map((p) => p * 255),
  };
}

// A text whose words have the colour of their most probable topic; the words behind a tag can be marked.
function readingByTopic({ text, spans }, hueOf) {
  const parts = [];
  let at = 0;
  for (const [start, stop, w, k] of spans) {
    if (start < at) continue;
    parts.push(
      text.slice(at, start),
      h("span", { class: "told", "data-word": store.words.names[w], vars: { "--hue": hueOf(k) }, title: topicLabel(k) }, text.slice(start, stop)),
    );
    at = stop;
  }
  parts.push(text.slice(at));
  return h("section", { class: "card", "aria-label": "Text by topic" },
    h("h2", {}, "Text"),
    remark("Each word the model knows is underlined in the colour of its topic here."),
    h("p", { class: "told-text", dir: "auto" }, parts),
  );
}
function markWords(words, on) {
  const told = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".told"));
  told.forEach((node) => node.classList.toggle("lit", on && words.includes(node.dataset.word)));
}

function proposals(found, again) {
  if (found.failed) return remark(found.failed);
  const rows = found
    .map((row) => ({ ...row, t: store.tags.names.indexOf(row.tag) }))
    .filter((row) => !bench.refused.includes(row.t));
  return [h("ul", { class: "proposals" }, rows.slice(0, MOST_PROPOSALS).map((row) => proposal(row, again))), undoButton(again)];
}

// The text and the decisions stay when the page is closed; texts that are done are kept for the export.
const benchKey = () => `tagtopics-bench ${store.title}`;
function saveBench() {
  const { text, tags, refused } = bench;
  keep(benchKey(), { text, tags: namesOf(tags), refused: namesOf(refused), kept: bench.kept });
}
function readBench() {
  if (bench.read) return;
  bench.read = true;
  const saved = kept(benchKey());
  const isNames = (part) => Array.isArray(part) && part.every((name) => typeof name === "string");
  const known = (names) => (isNames(names) ? numbersOfTags(names).filter((t) => t >= 0) : []);
  const isText = (one) => one && typeof one.text === "string" && isNames(one.tags) && isNames(one.refused);
  Object.assign(bench, {
    text: typeof saved.text === "string" ? saved.text.slice(0, 100000) : "",
    tags: known(saved.tags), refused: known(saved.refused),
    kept: Array.isArray(saved.kept) ? saved.kept.filter(isText) : [],
  });
}

// Decisions can be undone, the last one first.
function decide(t, accept) {
  bench.undo.push({ tags: [...bench.tags], refused: [...bench.refused] });
  const without = bench.tags.filter((u) => u !== t);
  bench.tags = accept && without.length === bench.tags.length ? [...bench.tags, t] : without;
  if (!accept) bench.refused.push(t);
}
function undoButton(again) {
  const undo = () => {
    Object.assign(bench, bench.undo.pop());
    again();
  };
  return bench.undo.length ? action("Undo", undo, { "data-focus": "undo" }) : null;
}

function proposal(row, again) {
  const reasons = row.words.length ? h("p", { class: "why" }, row.words.join(" · ")) : null;
  const figure = h("span", { class: "figure" }, percent(row.score));
  if (row.t < 0) return h("li", {}, h("span", {}, bdi(row.tag), " ", figure), reasons);
  const accepted = bench.tags.includes(row.t);
  const choose = (text, name, pressed, accept) => {
    const click = () => {
      decide(row.t, accept);
      again();
    };
    const focus = `${name}-${row.t}`;
    return action(text, click, { "aria-pressed": pressed, "aria-label": `${text} ${row.tag}`, "data-focus": focus });
  };
  const [mark, unmark] = [() => markWords(row.words, true), () => markWords(row.words, false)];
  return h("li", { on: { mouseenter: mark, mouseleave: unmark, focusin: mark, focusout: unmark } },
    h("span", {}, tagChip(row.t), " ", figure),
    h("span", {},
      choose(accepted ? "Accepted" : "Accept", "accept", String(accepted), true),
      choose("Refuse", "refuse", null, false),
    ),
    reasons,
  );
}

// Many texts at once: a CSV file in, its rows with topics and tags out.
const MOST_TEXTS = 5000;
const TEXT_COLUMN = /^(text|abstract|body|content|description|summary)$/i;

// The cells of a CSV file, with the separator that the head has most of.
function rowsOfCsv(content) {
  const text = content.replace(/^\ufeff/, "");
  const head = text.split("\n", 1)[0];
  const comma = [",", ";", "\t"].reduce((a, b) => (head.split(b).length > head.split(a).length ? b : a));
  return dsvFormat(comma).parseRows(text).filter((row) => row.some((one) => one.trim()));
}

// The texts of a file: of the column that is called text, abstract, ..., otherwise the one with the most letters.
function textsOfCsv(content) {
  const rows = rowsOfCsv(content);
  if (rows.length < 2) throw new Error("The file needs a line with the names of the columns, and a line for each text.");
  if (rows.length - 1 > MOST_TEXTS) throw new Error(`The file has ${whole(rows.length - 1)} texts; at most ${whole(MOST_TEXTS)} at a time.`);
  const [names, ...body] = rows;
  const letters = names.map((_, i) => body.reduce((sum, row) => sum + (row[i] || "").length, 0));
  const named = names.findIndex((name) => TEXT_COLUMN.test(name.trim()));
  const column = named >= 0 ? named : topOf(letters, 1)[0];
  return { name: names[column], id: body.map((row, i) => (column === 0 ? String(i + 1) : row[0])), texts: body.map((row) => row[column] || "") };
}

async function analysed(text) {
  try {
    if (!text.trim()) throw new Error("no text");
    const { topics, recommended, related } = await answersFor(text.slice(0, 100_000), []);
    const k = tellingTopics(Float64Array.from(topics.topics), 1)[0] ?? 0;
    const tags = recommended.failed ? [] : recommended.slice(0, 5);
    return { topic: k, share: topics.topics[k], tags, place: landing(documentsIn(related)) };
  } catch (error) {
    return { wrong: error.message, tags: [] };
  }
}

const batchCsv = (found) =>
  [
    ["id", "topic", "topic_name", "share", "tags", "probabilities", "note"],
    ...found.map((row) => [
      row.id,
      ...(row.wrong ? ["", "", ""] : [String(row.topic), topicName(row.topic), row.share.toFixed(3)]),
      row.tags.map((one) => one.tag).join("; "),
      row.tags.map((one) => one.score.toFixed(3)).join("; "),
      row.wrong || "",
    ]),
  ].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

function batchCard() {
  const state = h("p", { class: "note", role: "status" });
  const box = h("div", {});
  const run = async (file) => {
    box.replaceChildren();
    try {
      const { name, id, texts } = textsOfCsv(await file.text());
      const found = [];
      for (let i = 0; i < texts.length; i++) {
        found.push({ id: id[i], ...(await analysed(texts[i])) });
        if (i % 10 === 0) {
          state.textContent = `${whole(i + 1)} of ${whole(texts.length)} texts, from the column “${name}” …`;
          await new Promise((done) => setTimeout(done, 0));
        }
      }
      state.textContent = `${whole(texts.length)} texts, from the column “${name}”.`;
      box.replaceChildren(
        action("Save as CSV", () => download("tags.csv", "text/csv", batchCsv(found)), { class: "action main" }),
        placesFigure("Each text is at the weighted mean of its nearest documents.", [{ name: "texts", docs: [], places: found.flatMap((row) => (row.place ? [row.place] : [])) }], null),
        ...growing(found, batchRow, 20, "ul", "batch"),
      );
    } catch (error) {
      state.textContent = error.message;
    }
  };
  const input = h("input", { id: "bench-csv", type: "file", accept: ".csv,.tsv,text/csv", on: { change: () => input.files[0] && run(input.files[0]) } });
  return h("section", { class: "card" },
    h("h2", {}, "Many texts"),
    remark("A CSV file with a line for each text. The column may be called text or abstract; the first column is the id."),
    h("label", { for: "bench-csv" }, "CSV file"),
    " ",
    input,
    state,
    box,
  );
}

const batchRow = (row) =>
  h("li", {},
    h("bdi", { class: "name" }, clamped(row.id, 60)),
    row.wrong
      ? h("span", { class: "note" }, row.wrong)
      : [
          link(topicHref(row.topic), { class: "badges" }, badge(row.topic), h("span", {}, topicName(row.topic))),
          h("span", { class: "chips" },
            row.tags.map((one) => tagChip(store.tags.names.indexOf(one.tag), percent(one.score))),
          ),
        ],
  );
