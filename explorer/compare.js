// What two to six tags mean together: their topics, places, words and documents.
import { bdi, clamped, h, hero, inLines, isNarrow, lead, link, percent, plural, remark, rich, s, share, slotHue, topOf } from "./dom.js";
import { badge, countWith, isBackground, normal, ofListed, store, tagFull, tagLabel, tagProfile, tagShort, tellingTopics, together, topicHue, topicLabel, wordsUnder } from "./data.js";
import { groupHref, tagHref, topicHref } from "./address.js";
import { nearTags } from "./texts.js";
import { chosenTags, tagBox, tagChip } from "./widgets.js";
import { ITEM, axisOf } from "./pictures.js";
import { figure, placesFigure, topicItem, wordsFigure } from "./figure.js";
import { groupCards } from "./overview.js";
import { tagDocuments } from "./entity.js";

export function groupsPage(tags, unknown = []) {
  tags = [...new Set(tags)].filter((t) => t >= 0 && t < store.tags.names.length).slice(0, 6);
  if (!store.tags.names.length) return [h("h1", {}, "Tag groups"), h("p", {}, "This model has no tags.")];
  const go = (next) => {
    location.hash = next.length ? groupHref(next) : "#/groups";
  };
  const head = [
    hero("Tag groups", tags.length > 1 ? bdi(tags.map(tagShort).join(" + ")) : "Compare tags",
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
      tags.length ? remark("Add a second tag to see their joint profile.") : null,
      store.groups.length ? groupCards("Combinations that mean something new", 12) : null,
    ];
  const joint = together(tags);
  const alone = tags.map(tagProfile);
  return [
    ...head,
    verdict(tags, joint, alone),
    h("div", { class: "split" }, groupPlaces(tags, joint), groupTopics(tags, joint, alone)),
    tagDocuments(tags, 3),
    store.pictures ? null : groupWords(tags, joint, alone),
  ];
}

function verdict(tags, joint, alone) {
  const k = tellingTopics(joint, 1)[0] ?? topOf(joint, 1)[0];
  const parts = tags.map((t, i) => rich`${share(alone[i][k])} of ${h("strong", {}, bdi(tagShort(t)))}`);
  const most = parts.slice(0, -1).flatMap((part, i) => (i ? [", ", part] : [part]));
  const main = link(topicHref(k), {}, badge(k), topicLabel(k));
  return h("p", { class: "verdict", vars: { "--hue": topicHue(k) } },
    rich`Together, their main topic is ${main} with ${percent(joint[k])}. Alone, it has ${most} and ${parts.at(-1)}.`,
    brought(joint, alone, k),
  );
}

// The topic that gains most from combining the tags, unless it is the main topic.
function brought(joint, alone, first) {
  const gain = Array.from(joint, (p, k) => (isBackground(k) ? 0 : p) - Math.max(...alone.map((one) => one[k])));
  const k = topOf(gain, 1)[0];
  if (k === first || gain[k] < 0.03) return null;
  const gained = link(topicHref(k), {}, badge(k), topicLabel(k));
  return rich` The largest gain is ${gained}: ${percent(joint[k])} together, at most ${share(joint[k] - gain[k])} alone.`;
}

// Lines from the share of a topic in each tag alone to its share together, for the topics that move most; generic topics are
// left out.
function groupTopics(tags, joint, alone) {
  const moved = Float64Array.from(joint, (p, k) => (isBackground(k) ? 0 : Math.max(...alone.map((one) => Math.abs(p - one[k])))));
  const first = topOf(joint, store.K, topOf(moved, 8).filter((k) => moved[k] > 0.01));
  const rows = [...first, ...topOf(joint, store.K).filter((k) => !first.includes(k))].map((k) => ({
    ...topicItem(k, joint[k], share(joint[k])), parts: alone.map((one) => one[k]),
  }));
  const columns = Object.fromEntries(tags.map((t, i) => [store.tags.names[t], ({ parts }) => parts[i]]));
  return figure({
    title: "Topics that move", question: "From the share in each tag alone, on the left, to the share together, on the right.", rows, shown: first.length, axis: "Share",
    columns: { topic: ITEM.id, topic_name: ITEM.name, together: ITEM.value, ...columns },
    mark: (some) => slopes(tags, some),
  });
}
function slopes(tags, rows) {
  const [width, left, right, top] = [isNarrow() ? 340 : 560, 46, isNarrow() ? 150 : 250, 38 + 20 * tags.length];
  const foot = top + Math.max(34 * rows.length, 180);
  const { scale: py, ticks } = axisOf(Math.max(...rows.flatMap(({ value, parts }) => [value, ...parts]), 0.01), [foot, top]);
  const ends = rows.map(({ value }) => py(value)); // names are at least 30 pixels apart, as near to their lines as they can be
  for (let i = 1; i < ends.length; i++) ends[i] = Math.max(ends[i], ends[i - 1] + 30);
  for (let i = ends.length - 1, most = foot; i >= 0; i--, most -= 30) ends[i] = Math.min(ends[i], most);
  const name = rows.map((row) => `${row.name}: ${tags.map((t, i) => `${tagFull(t)} ${share(row.parts[i])}`).join(", ")}, together ${row.text}`).join("; ");
  return s("svg", { class: "slope", viewBox: `0 0 ${width} ${foot + 12}`, role: "img", "aria-label": name },
    tags.map((t, i) => [
      s("path", { class: "line", vars: { "--hue": slotHue(i + 1) }, d: `M4 ${10 + 20 * i}h18` }),
      s("text", { x: 28, y: 14 + 20 * i }, clamped(tagFull(t), 60)),
    ]),
    [[left, "alone"], [right, "together"]].map(([x, words]) => s("text", { x, y: top - 12, "text-anchor": "middle" }, words)),
    ticks.map((tick) => [s("path", { class: "rule", d: `M${left} ${py(tick)}H${right}` }), s("text", { class: "tick", x: left - 6, y: py(tick), dy: ".35em", "text-anchor": "end" }, percent(tick))]),
    rows.map((row, j) => [
      row.parts.map((part, i) => s("path", { class: "line", vars: { "--hue": slotHue(i + 1) }, d: `M${left} ${py(part)}L${right} ${py(row.value)}` })),
      s("path", { class: "rule", d: `M${right + 3} ${py(row.value)}L${right + 14} ${ends[j]}` }),
      s("g", { class: "end", "data-topic": row.id },
        s("text", { class: "figure", x: right + 18, y: ends[j], dy: ".35em" }, row.text),
        inLines(clamped(row.name, 48), isNarrow() || row.name.length > 24 ? 2 : 1).map((line, n, all) => s("text", { x: right + 60, y: ends[j] + 14 * (n - (all.length - 1) / 2), dy: ".35em" }, line)),
      ),
    ]),
  );
}

// The map with the outlines of each tag, and the documents that have all of them.
function groupPlaces(tags, joint) {
  const both = store.docsOfTag[tags[0]].filter((d) => tags.every((t) => store.documents.tags[d].includes(t)));
  const n = countWith(tags);
  const layers = tags.map((t, i) => ({ name: tagFull(t), docs: store.docsOfTag[t], hue: slotHue(i + 1), kind: "outline" }));
  const query = new URLSearchParams(tags.map((t) => ["tag", store.tags.names[t]]));
  return placesFigure(`${plural(n, "document")} ${n === 1 ? "has" : "have"} all of them${ofListed()}. Outlines: where documents of each tag are dense.`, [...layers, { name: "together", docs: both, kind: "filled" }], query, tellingTopics(joint, 1));
}

// A word is new if the group has clearly more of it than each tag alone; words of generic topics do not count.
const NEW_FROM = 1.5;
function groupWords(tags, joint, alone) {
  const [own, ...others] = [joint, ...alone].map((profile) => normal(profile.map((p, k) => (isBackground(k) ? 0 : p))));
  const words = (profile) => wordsUnder(profile, 16).map(({ w }) => w);
  const [together, ...shares] = [own, ...others].map((profile) => new Map(wordsUnder(profile, Infinity).map(({ w, p }) => [w, p])));
  const isNew = (w) => shares.every((one) => together.get(w) > NEW_FROM * (one.get(w) || 0));
  return wordsFigure("Words",
    "The most characteristic words of the group, and of each tag alone; new: the group has clearly more of it than each tag.",
    [
      { title: "together", name: "together", hue: 255, words: words(own), isNew },
      ...others.map((profile, i) => ({ title: tagLabel(tags[i]), name: tagFull(tags[i]), hue: slotHue(i + 1), words: words(profile) })),
    ],
  );
}
