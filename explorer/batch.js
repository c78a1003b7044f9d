// Many texts at once: a CSV file in, its rows with topics and tags out.
import { action, clamped, h, link, percent, remark, topOf, whole } from "./dom.js";
import { badge, store, tellingTopics, topicName } from "./data.js";
import { answersFor, documentsIn, landing } from "./offline.js";
import { cell, download } from "./pictures.js";
import { placesFigure } from "./places.js";
import { topicHref } from "./address.js";
import { growing, tagChip } from "./widgets.js";

const MOST_TEXTS = 5000;
const TEXT_COLUMN = /^(text|abstract|body|content|description|summary)$/i;

// The cells of a CSV file: quoted cells, doubled quotes, line feeds in cells; the separator that the head has most of.
function rowsOfCsv(content) {
  const text = content.replace(/^\ufeff/, "");
  const head = text.slice(0, Math.max(text.indexOf("\n"), 0) || text.length);
  const comma = [",", ";", "\t"].reduce((a, b) => (head.split(b).length > head.split(a).length ? b : a));
  const rows = [[]];
  let cellText = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cellText += c;
      else if (text[i + 1] === '"') cellText += text[++i];
      else quoted = false;
    } else if (c === '"' && cellText === "") quoted = true;
    else if (c === comma) {
      rows.at(-1).push(cellText);
      cellText = "";
    } else if (c === "\n") {
      rows.at(-1).push(cellText.replace(/\r$/, ""));
      cellText = "";
      rows.push([]);
    } else cellText += c;
  }
  rows.at(-1).push(cellText);
  return rows.filter((row) => row.some((one) => one.trim()));
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

export function batchCard() {
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
  const input = h("input", {
    id: "bench-csv", type: "file", accept: ".csv,.tsv,text/csv",
    on: { change: () => input.files[0] && run(input.files[0]) },
  });
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
