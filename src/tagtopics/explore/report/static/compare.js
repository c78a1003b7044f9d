// What two to six tags mean together: their topics, places, words and documents.
function groupsPage(tags, unknown = []) {
  tags = [...new Set(tags)].filter((t) => t >= 0 && t < store.tags.names.length).slice(0, 6);
  if (!store.tags.names.length) return [h("h1", {}, "Tag groups"), h("p", {}, "This model has no tags.")];
  const go = (next) => {
    location.hash = next.length ? groupHref(next) : "#/groups";
  };
  const head = [
    hero("Tag groups", tags.length > 1 ? h("bdi", {}, tags.map(tagFull).join(" + ")) : "Compare tags",
      lead("The topics that all chosen tags share, compared with each tag alone."),
    ),
    h("div", { class: "picker" },
      chosenTags("Chosen tags", tags, 1, (t) => go(tags.filter((u) => u !== t)), (t) => link(tagHref(t), {}, tagLabel(t))),
      tags.length < 6
        ? tagBox(tags.length ? "Add another tag" : "Choose a first tag", tags, (t) => go([...tags, t]))
        : null,
    ),
    ...unknown.slice(0, 6).map((name) => {
      const near = nearTags(name, 6);
      return h("p", { class: "chips missing" },
        `No tag is called “${name.slice(0, 200)}”.`,
        near.length ? [" ", "Similar names:", " ", near.map((t) => tagChip(t))] : null,
      );
    }),
  ];
  if (tags.length < 2)
    return [
      ...head,
      tags.length ? h("p", { class: "note" }, "Add a second tag to see their joint profile.") : null,
      store.groups.length ? groupCards("Suggestions", 12) : null,
    ];
  const joint = together(tags);
  const alone = tags.map(tagProfile);
  return [
    ...head,
    verdict(tags, joint, alone),
    h("div", { class: "split wide-left" }, groupTopics(tags, joint, alone), groupPlaces(tags)),
    separating(tags),
    store.pictures ? null : groupWords(tags, joint, alone),
    tagDocuments(tags),
  ];
}

function verdict(tags, joint, alone) {
  const k = topOf(joint, 1)[0];
  const parts = tags.map((t, i) => rich`${share(alone[i][k])} of ${h("strong", {}, h("bdi", {}, tagShort(t)))}`);
  const most = parts.slice(0, -1).flatMap((part, i) => (i ? [", ", part] : [part]));
  const main = link(topicHref(k), {}, badge(k), topicLabel(k));
  return h("p", { class: "verdict", vars: { "--hue": topicHue(k) } },
    rich`Together, their main topic is ${main} with ${percent(joint[k])}. Alone, it has ${most} and ${parts.at(-1)}.`,
    brought(joint, alone, k),
  );
}

// The topic that gains most from combining the tags, unless it is the main topic.
function brought(joint, alone, first) {
  const gain = Array.from(joint, (p, k) => p - Math.max(...alone.map((one) => one[k])));
  const k = topOf(gain, 1)[0];
  if (k === first || gain[k] < 0.03) return null;
  const gained = link(topicHref(k), {}, badge(k), topicLabel(k));
  return rich` The largest gain is ${gained}: ${percent(joint[k])} together, at most ${share(joint[k] - gain[k])} alone.`;
}

function groupTopics(tags, joint, alone) {
  const height = Array.from(joint, (p, k) => Math.max(p, ...alone.map((one) => one[k])));
  const best = topOf(joint, 5);
  const rest = topOf(height, 10).filter((k) => !best.includes(k)).slice(0, 4);
  const first = [...best, ...rest].filter((k) => height[k] > 0.01).sort((a, b) => joint[b] - joint[a] || a - b);
  const most = Math.max(...first.map((k) => height[k]));
  const rows = [...first, ...topOf(joint, store.K).filter((k) => !first.includes(k))].map((k) => ({
    ...topicItem(k, joint[k], share(joint[k])), parts: alone.map((one) => one[k]),
  }));
  const part = (value) => `${(100 * value) / most}%`;
  const row = ({ value, text, parts, label, href }) =>
    h("li", {},
      link(href, { class: "label" }, label),
      h("span", { class: "stack" },
        h("span", { class: "both" }, h("span", { class: "fill ink", vars: { "--part": part(value) } }), h("span", { class: "figure" }, text)),
        parts.map((one, i) =>
          h("span", { class: "single" },
            h("span", { class: "fill", vars: { "--hue": slotHue(i + 1), "--part": part(one) } }),
            h("span", { class: "hidden" }, `${tagFull(tags[i])}: ${share(one)}`),
          ),
        ),
      ),
    );
  const columns = Object.fromEntries(tags.map((t, i) => [store.tags.names[t], ({ parts }) => parts[i]]));
  return figure({
    title: "Topics", question: "Thick bars: together. Thin bars: each tag alone.", rows, shown: first.length, axis: "Share",
    columns: { topic: ITEM.id, topic_name: ITEM.name, together: ITEM.value, ...columns },
    series: tags.map((t, i) => ({ name: tagFull(t), hue: slotHue(i + 1) })),
    mark: (some) => [legend(tags), h("ul", { class: "compare" }, some.map(row))],
  });
}

const legend = (tags) =>
  h("p", { class: "legend" },
    h("span", {}, h("i", { class: "ink" }), "together"),
    tags.map((t, i) => h("span", {}, h("i", { vars: { "--hue": slotHue(i + 1) } }), tagLabel(t))),
  );

function groupPlaces(tags) {
  const both = store.docsOfTag[tags[0]].filter((d) => tags.every((t) => store.documents.tags[d].includes(t)));
  const n = countWith(tags);
  const layers = tags.map((t, i) => ({ name: tagFull(t), docs: store.docsOfTag[t], hue: slotHue(i + 1) }));
  const query = new URLSearchParams(tags.map((t) => ["tag", store.tags.names[t]]));
  return placesFigure(`${plural(n, "document")} ${n === 1 ? "has" : "have"} all of them${ofListed()}.`, [...layers, { name: "together", docs: both }], query);
}

function groupWords(tags, joint, alone) {
  const columns = alone.map((profile) => wordsUnder(profile, 16).map((row) => row[0]));
  const common = new Set(columns.flat());
  const joined = { title: "together", name: "together", hue: 255, words: wordsUnder(joint, 16).map((row) => row[0]), isNew: (w) => !common.has(w) };
  return wordsFigure("Words",
    "The most characteristic words of the group, and of each tag alone; new: not among those of any single tag.",
    [joined, ...columns.map((words, i) => ({ title: tagLabel(tags[i]), name: tagFull(tags[i]), hue: slotHue(i + 1), words }))],
  );
}

// Two tags: the credited words that one has and the other has not, or less of.
function separating(tags) {
  if (store.pictures || tags.length !== 2 || tags.some((t) => !store.tags.words[t].length)) return null;
  const shares = tags.map((t) => {
    const all = store.tags.credits[t].reduce((sum, n) => sum + n, 0);
    return new Map(store.tags.words[t].map((w, i) => [w, store.tags.credits[t][i] / all]));
  });
  const only = (i) =>
    [...shares[i]]
      .map(([w, p]) => [w, p - (shares[1 - i].get(w) || 0)])
      .filter(([, gap]) => gap > 0)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, 14);
  return wordsFigure("Words that separate them",
    "Among the most characteristic words credited to each tag, those that the other has not, or has less of.",
    tags.map((t, i) => ({ title: tagLabel(t), name: tagFull(t), hue: slotHue(i + 1), words: only(i).map(([w]) => w) })),
  );
}
