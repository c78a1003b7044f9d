// The workbench: analyse a new text, accept or refuse recommended tags, export the result.
const bench = { text: "", tags: [], refused: [], answers: null, kind: null, least: 0, undo: [], kept: [], read: false, asked: 0 };
const LEAST_KNOWN = 0.2; // share of a text's words that the model must know
const MOST_PROPOSALS = 12;

const hasBench = () =>
  settings.live ? ["transform", "photograph"].some((kind) => settings.offers.includes(kind)) : settings.bench;

function workbenchPage() {
  return !settings.live || settings.offers.includes("transform") ? textBench() : photographBench();
}

// Why a text is refused, given its numbers of known and unknown words; null if it is not.
function refusal(known, unknown) {
  if (!known) return "The model knows none of the words of this text, so it cannot analyse it.";
  if (known < LEAST_KNOWN * (known + unknown))
    return `The model knows only ${whole(known)} of ${plural(known + unknown, "word")} of this text, too few to analyse it. Is it in the language of the collection?`;
  return null;
}

// A new photo: its tags, and where in the photo each of them is.
function photographBench() {
  const result = h("div", { "aria-live": "polite" });
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const ask = async (file) => {
    wrong.hidden = true;
    try {
      const answer = await fetch("api/v1/photograph", {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream" },
        body: file,
      });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.detail);
      const reading = h("section", { class: "card reading", "aria-label": "Photo by tag" });
      pictured(
        reading,
        { j: found.jpeg, r: found.rows, c: found.columns, h: found.heat },
        found.tags.map((name) => store.tags.names.indexOf(name)),
      );
      result.replaceChildren(
        h(
          "div",
          { class: "split" },
          reading,
          h(
            "div",
            {},
            card(
              "Recommended tags",
              "How probable each tag is for this photo.",
              bars(
                found.tags.map((name, i) => ({
                  label: h("bdi", {}, name),
                  value: found.scores[i],
                  text: percent(found.scores[i]),
                  href: `#/tag/${store.tags.names.indexOf(name)}`,
                })),
                { most: 1, name: "Tags" },
              ),
            ),
            card("Topics", null, topicBars(found.topics, 6, 0.02)),
          ),
        ),
      );
    } catch (error) {
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
  };
  const input = h("input", {
    id: "bench-file",
    type: "file",
    accept: "image/*",
    on: {
      change: (event) => {
        if (event.target.files[0]) ask(event.target.files[0]);
      },
    },
  });
  const zone = h(
    "section",
    {
      class: "card bench drop",
      "aria-label": "New photo",
      on: {
        dragover: (event) => event.preventDefault(),
        drop: (event) => {
          event.preventDefault();
          if (event.dataTransfer.files[0]) ask(event.dataTransfer.files[0]);
        },
      },
    },
    h("label", { for: "bench-file" }, "Choose a photo, or drop one here"),
    input,
    wrong,
  );
  return [
    h(
      "div",
      { class: "hero" },
      h("p", { class: "eyebrow" }, "Workbench"),
      h("h1", {}, "Analyse a new photo"),
      h("p", { class: "lead" }, "Recommended tags, and where in the photo each of them is."),
    ),
    zone,
    result,
  ];
}

function textBench() {
  readBench();
  const area = h("textarea", {
    id: "bench-text",
    maxlength: 100000,
    placeholder: "Paste a text …",
    on: {
      input: (event) => {
        bench.text = event.target.value;
        clearTimeout(bench.saving);
        bench.saving = setTimeout(saveBench, 300);
      },
    },
  });
  area.value = bench.text;
  const result = h("div", { id: "bench-result", "aria-live": "polite" });
  const chosen = h("div", { class: "picker" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  wrong.hidden = true;
  const ask = async () => {
    if (!bench.text.trim()) {
      area.focus();
      return;
    }
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
  const next = () => {
    if (bench.text.trim()) bench.kept.push({ text: bench.text, tags: bench.tags.map((t) => store.tags.names[t]), refused: bench.refused.map((t) => store.tags.names[t]) });
    Object.assign(bench, { text: "", tags: [], refused: [], undo: [], answers: null });
    saveBench();
    bench.asked++;
    area.value = "";
    result.replaceChildren();
    result.setAttribute("aria-busy", "false");
    drawChosen();
    drawKept();
    area.focus();
  };
  const kept = h("div", { class: "row" });
  const drawKept = () => {
    const lines = () => bench.kept.map((one) => `${JSON.stringify(one)}\n`).join("");
    const forget = () => {
      bench.kept = [];
      saveBench();
      drawKept();
      area.focus();
    };
    kept.replaceChildren(
      ...(bench.kept.length
        ? [
            h("span", { class: "note" }, `${plural(bench.kept.length, "text")} kept in this browser`),
            h("button", { type: "button", class: "action", on: { click: () => download("texts.jsonl", "application/x-ndjson", lines()) } }, "Export them as JSON lines"),
            h("button", { type: "button", class: "action", on: { click: forget } }, "Forget them"),
          ]
        : []),
    );
  };
  drawKept();
  const drawChosen = () =>
    chosen.replaceChildren(
      bench.tags.length
        ? h(
            "ul",
            { class: "chosen", "aria-label": "Accepted tags" },
            bench.tags.map((t, i) =>
              h(
                "li",
                { vars: { "--hue": slotHue(i) } },
                h("span", {}, tagLabel(t)),
                h(
                  "button",
                  {
                    type: "button",
                    "aria-label": `Remove ${tagFull(t)}`,
                    on: {
                      click: () => {
                        bench.tags = bench.tags.filter((u) => u !== t);
                        again();
                      },
                    },
                  },
                  "×",
                ),
              ),
            ),
          )
        : "",
      store.tags.names.length
        ? tagBox("Tags of the text", bench.tags, (t) => {
            bench.tags.push(t);
            again();
          })
        : "",
    );
  drawChosen();
  if (!settings.live) setTimeout(loadBench, 100); // ready by the time that a text is pasted
  if (bench.answers) result.replaceChildren(...benchResult(again));
  return [
    h(
      "div",
      { class: "hero" },
      h("p", { class: "eyebrow" }, "Workbench"),
      h("h1", {}, "Analyse a new text"),
      h(
        "p",
        { class: "lead" },
        "Its topics, recommended tags with reasons, and related documents.",
      ),
    ),
    h(
      "section",
      { class: "card bench", "aria-label": "New text" },
      h("label", { for: "bench-text" }, "Text"),
      area,
      chosen,
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "action main", on: { click: ask } }, "Analyse"),
        h("button", { type: "button", class: "action", on: { click: next } }, "Keep it, next text"),
      ),
      kept,
      wrong,
    ),
    result,
    batchCard(),
  ];
}

async function answersFor(text, tags) {
  if (!settings.live) return offlineAnswers(text);
  const names = tags.map((t) => store.tags.names[t]);
  const documents = [{ text, tags: names }];
  const optional = (kind, body) =>
    settings.offers.includes(kind)
      ? asked(`api/v1/${kind}`, body).catch((error) => ({ failed: error.message }))
      : { failed: kind === "recommend" ? `${store.model} does not recommend.` : `${store.model} does not explain.` };
  const [topics, related, explained, recommended] = await Promise.all([
    asked("api/v1/transform", { documents }),
    asked("api/v1/related", { documents, top: 8 }),
    tags.length ? optional("explain", { documents }) : null,
    optional("recommend", { documents: [{ text }], top: 30 }),
  ]);
  const refused = refusal(topics.documents[0].known_words, topics.documents[0].unknown_words);
  if (refused) throw new Error(refused);
  return {
    topics: topics.documents[0],
    related: related.documents[0],
    explained: explained && !explained.failed ? explained.documents[0] : null,
    recommended: recommended.failed ? recommended : recommended.documents[0],
  };
}

function benchResult(again) {
  const { topics, related, explained, recommended } = bench.answers;
  const place = new Map(store.documents.rows.map((row, d) => [row, d]));
  const reading = h("section", { class: "card reading", "aria-label": "Text by tag" });
  if (explained)
    coloured(
      reading,
      bodyOf(explained),
      explained.tags.map((name) => store.tags.names.indexOf(name)),
    );
  return [
    h(
      "p",
      { class: "note" },
      `${plural(topics.known_words, "word")} known to the model, ${whole(topics.unknown_words)} unknown.`,
    ),
    h(
      "div",
      { class: "split" },
      h(
        "div",
        {},
        card("Topics", null, topicBars(topics.topics, 8, 0.01)),
        explained ? reading : null,
        bench.answers.read ? readingByTopic(bench.answers.read) : null,
      ),
      h("div", {}, card("Recommended tags", "Percentage: how probable the tag is. Below it: the words of the text that speak for it.", proposals(recommended, again)), exportCard()),
    ),
    card(
      "Related documents",
      "Documents of the collection with similar topics.",
      documentList(related.map((row) => documentRow(place.get(row.row), { figure: percent(row.score) }))),
    ),
  ];
}

// An explanation from the server as a stored body. Its spans are in code points; the page uses UTF-16 units.
function bodyOf(explained) {
  const points = [0];
  for (const character of explained.text) points.push(points[points.length - 1] + character.length);
  const number = new Map(store.words.names.map((name, w) => [name, w]));
  const spans = [];
  let before = 0;
  for (const [start, stop, word] of explained.spans) {
    spans.push(points[start] - before, points[stop] - points[start], word);
    before = points[stop];
  }
  return {
    t: explained.text,
    s: spans,
    w: explained.words.map((name) => number.get(name)),
    n: explained.counts,
    k: explained.word_topics,
    c: explained.credit.flat().map((p) => p * 255),
  };
}

// A text whose words have the colour of their most probable topic; the words behind a tag can be marked.
function readingByTopic({ text, spans }) {
  const parts = [];
  let at = 0;
  for (const [start, stop, w, k] of spans) {
    if (start < at) continue;
    parts.push(
      text.slice(at, start),
      h("span", { class: "told", "data-word": store.words.names[w], vars: { "--hue": topicHue(k) }, title: topicLabel(k) }, text.slice(start, stop)),
    );
    at = stop;
  }
  parts.push(text.slice(at));
  return h(
    "section",
    { class: "card", "aria-label": "Text by topic" },
    h("h2", {}, "Text"),
    h("p", { class: "note" }, "Each word the model knows is underlined in the colour of its topic here."),
    h("p", { class: "told-text", dir: "auto" }, parts),
  );
}
function markWords(words, on) {
  document.querySelectorAll(".told").forEach((node) => node.classList.toggle("lit", on && words.includes(node.dataset.word)));
}

function proposals(found, again) {
  if (found.failed) return h("p", { class: "note" }, found.failed);
  const rows = found
    .map((row) => ({ ...row, t: store.tags.names.indexOf(row.tag) }))
    .filter((row) => !bench.refused.includes(row.t));
  const list = h("ul", { class: "proposals" });
  const draw = () => {
    const kept = rows.filter((row) => row.score >= bench.least && (bench.kind === null || kindOf(row.tag) === bench.kind));
    list.replaceChildren(...kept.slice(0, MOST_PROPOSALS).map((row) => proposal(row, again)));
    if (!kept.length) list.append(h("li", {}, h("span", { class: "note" }, "None of this kind and probability.")));
  };
  draw();
  return [proposalFilter(draw), list, undoButton(again)];
}
const kindOf = (name) => (store.kinds.size > 1 ? kindIn(name) : "");

function proposalFilter(draw) {
  const kinds = [...store.kinds.keys()];
  const select = h(
    "select",
    { id: "bench-kind", on: { change: () => { bench.kind = select.value === "*" ? null : select.value; draw(); } } },
    h("option", { value: "*" }, "all"),
    kinds.map((kind) => h("option", { value: kind, selected: bench.kind === kind }, kind || "other")),
  );
  const least = h(
    "select",
    { id: "bench-least", on: { change: () => { bench.least = Number(least.value); draw(); } } },
    [0, 0.05, 0.1, 0.2, 0.5].map((p) => h("option", { value: p, selected: bench.least === p }, percent(p))),
  );
  return h(
    "div",
    { class: "filterbar" },
    h(
      "div",
      { class: "fields" },
      kinds.length > 1 ? h("div", {}, h("label", { for: "bench-kind" }, "Kind"), select) : null,
      h("div", {}, h("label", { for: "bench-least" }, "At least"), least),
    ),
  );
}

// Decisions can be undone, the last one first.
// The text and the decisions stay when the page is closed; texts that are done are kept for the export.
const benchKey = () => `tagtopics-bench ${store.title}`;
function saveBench() {
  const named = (tags) => tags.map((t) => store.tags.names[t]);
  try {
    localStorage.setItem(benchKey(), JSON.stringify({ text: bench.text, tags: named(bench.tags), refused: named(bench.refused), kept: bench.kept }));
  } catch {
    /* a browser may forbid it, or have no room */
  }
}
function readBench() {
  if (bench.read) return;
  bench.read = true;
  try {
    const saved = JSON.parse(localStorage.getItem(benchKey()) || "{}");
    const known = (names) => (Array.isArray(names) ? names.map((name) => store.tags.names.indexOf(name)).filter((t) => t >= 0) : []);
    const isText = (one) => one && typeof one.text === "string" && [one.tags, one.refused].every((part) => Array.isArray(part) && part.every((name) => typeof name === "string"));
    Object.assign(bench, {
      text: typeof saved.text === "string" ? saved.text.slice(0, 100000) : "",
      tags: known(saved.tags),
      refused: known(saved.refused),
      kept: Array.isArray(saved.kept) ? saved.kept.filter(isText) : [],
    });
  } catch {
    /* not ours, or forbidden */
  }
}

function decide(t, accept) {
  bench.undo.push({ tags: [...bench.tags], refused: [...bench.refused] });
  const without = bench.tags.filter((u) => u !== t);
  bench.tags = accept && without.length === bench.tags.length ? [...bench.tags, t] : without;
  if (!accept) bench.refused.push(t);
}
function undoButton(again) {
  if (!bench.undo.length) return null;
  const undo = () => {
    Object.assign(bench, bench.undo.pop());
    again();
  };
  return h("button", { type: "button", class: "action", "data-focus": "undo", on: { click: undo } }, "Undo");
}

function proposal(row, again) {
  const reasons = row.words.length ? h("p", { class: "why" }, row.words.join(" · ")) : null;
  const figure = h("span", { class: "figure" }, percent(row.score));
  if (row.t < 0) return h("li", {}, h("span", {}, h("bdi", {}, row.tag), " ", figure), reasons);
  const accepted = bench.tags.includes(row.t);
  const button = (text, name, pressed, accept) =>
    h(
      "button",
      {
        type: "button",
        class: "action",
        "aria-pressed": pressed,
        "aria-label": `${text} ${row.tag}`,
        "data-focus": `${name}-${row.t}`,
        on: {
          click: () => {
            decide(row.t, accept);
            again();
          },
        },
      },
      text,
    );
  return h(
    "li",
    { on: { mouseenter: () => markWords(row.words, true), mouseleave: () => markWords(row.words, false), focusin: () => markWords(row.words, true), focusout: () => markWords(row.words, false) } },
    h("span", {}, tagChip(row.t), " ", figure),
    h("span", {}, button(accepted ? "Accepted" : "Accept", "accept", String(accepted), true), button("Refuse", "refuse", null, false)),
    reasons,
  );
}

function exportCard() {
  const save = (name, type, content) => {
    const address = URL.createObjectURL(new Blob([content], { type }));
    const anchor = h("a", { href: address, download: name });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  const value = () => ({
    text: bench.text,
    tags: bench.tags.map((t) => store.tags.names[t]),
    refused: bench.refused.map((t) => store.tags.names[t]),
    topics: bench.answers.topics.topics,
  });
  const { recommended } = bench.answers;
  const answer = () => ({ ...value(), recommended: recommended.failed ? [] : recommended });
  return card(
    "Export",
    "The text, its accepted and refused tags, and its topics.",
    h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          type: "button",
          class: "action",
          on: { click: () => save("document.json", "application/json", JSON.stringify(value(), null, 1)) },
        },
        "JSON",
      ),
      " ",
      h(
        "button",
        {
          type: "button",
          class: "action",
          on: {
            click: () =>
              save(
                "document.jsonl",
                "application/x-ndjson",
                JSON.stringify({ text: bench.text, tags: value().tags }) + "\n",
              ),
          },
        },
        "JSON line",
      ),
    ),
    h("details", { class: "answer" }, h("summary", {}, "Answer as JSON"), h("pre", { tabindex: "0" }, JSON.stringify(answer(), null, 1))),
  );
}
