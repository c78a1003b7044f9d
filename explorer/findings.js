// The findings of the record, as sentences. Each links to the page about it, and to its documents on the map.
import { h, link, percent, remark, whole } from "./dom.js";
import { store, tagShort, topicHue, topicName } from "./data.js";
import { groupHref, tagHref, topicHref } from "./address.js";
import { TOPIC_FROM } from "./filter.js";
import { ITEM } from "./pictures.js";
import { figure, halvesOf, shareMenu } from "./figure.js";

export function findingsCard() {
  const { findings } = store;
  if (!findings.length) return [];
  const missing = findings.find((one) => one.tags.length && !findingTags(one).length);
  return [figure({
    title: "Findings",
    rows: findings.map((one) => ({ ...one, name: plainSentence(one), text: evidenceOf(one).join(", ") })),
    columns: {
      kind: (row) => row.kind, finding: (row) => row.name, evidence: (row) => row.text,
      topic: (row) => (row.topic === null ? "" : topicName(row.topic)), tags: (row) => findingTags(row).map((t) => store.tags.names[t]).join(" + "),
      low: (row) => row.low, high: (row) => row.high,
    },
    mark: (rows) => [
      h("ol", { class: "findings" }, rows.map(findingLine)),
      remark(
        `Differences that chance does not explain, at 5 % for all ${whole(findings[0].tests)} comparisons together, with their 95 % intervals. A ${store.pictures ? "photo" : "document"} is about a topic if it has at least ${percent(TOPIC_FROM)} of it.`,
        missing ? ` Uneven tags have no documents in some periods: ${missing.tags.map(tagShort).join(", ")}.` : "",
      ),
    ],
  })];
}

export function findingLine(one) {
  const [sentence, href] = FINDING_KINDS[one.kind](one);
  const query = new URLSearchParams(findingTags(one).map((t) => ["tag", store.tags.names[t]]));
  if (one.topic !== null) query.append("topic", one.topic);
  const line = h("li", {},
    link(href, {}, sentence),
    h("small", {}, `${evidenceOf(one).join(", ")}; difference ${pointsOf(one)}. `, link(`#/?${query}`, {}, "On the map")),
  );
  line.lastChild.append(shareMenu(line, () => findingFigure(one)));
  return line;
}
const plainSentence = (one) => FINDING_KINDS[one.kind](one)[0].map((part) => part.textContent ?? part).join("");
const pointsOf = ({ low, high }) => `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} points`;
// The shares of a finding, as a figure of its own.
const findingFigure = (one) => ({
  title: plainSentence(one), question: `Difference: ${pointsOf(one)}, a 95 % interval for all comparisons together.`, axis: "Share of the documents", most: 0,
  rows: groupsOf(one).map(([found, of, name]) => ({ name, value: found / of, text: `${rateOf([found, of])} (${whole(found)} of ${whole(of)})`, found, of, hue: one.topic === null ? 255 : topicHue(one.topic) })),
  columns: { group: ITEM.name, about_the_topic: ({ found }) => found, documents: ({ of }) => of, share: ITEM.value },
});

// The tags of a trend are those that some periods lack.
const findingTags = ({ kind, tags }) => (kind === "rising" || kind === "falling" ? [] : tags);
/** @type {(row: number[]) => [number, number]} */
const othersOf = ([, , found, of]) => [found, of];
const rateOf = ([found, of]) => percent(found / of);
const strong = (...parts) => h("strong", {}, parts);

// Sentence and page of each kind of finding.
const FINDING_KINDS = {
  rising: (one) => trendSentence(one, "rises"),
  falling: (one) => trendSentence(one, "falls"),
  together: ({ tags, topic, counts }) => [
    [strong(tags.map(tagShort).join(" + ")), `: ${rateOf(counts[0])} are about ${topicName(topic)}; each without the other: ${counts.map((row) => rateOf(othersOf(row))).join(" and ")}`],
    groupHref(tags),
  ],
  apart: ({ tags: [t], topic, counts: [row] }) => [
    [strong(tagShort(t)), `: ${rateOf(row)} are about ${topicName(topic)}; all others: ${rateOf(othersOf(row))}`],
    tagHref(t),
  ],
  unclear: ({ tags: [t], counts: [row] }) => [
    ["Weak spot: ", strong(tagShort(t)), `: ${rateOf(row)} are about no topic; all others: ${rateOf(othersOf(row))}`],
    tagHref(t),
  ],
};
const inOrder = (kind, row) => (kind === "rising" ? [othersOf(row), row] : [row, othersOf(row)]);
const trendSentence = ({ kind, topic, counts: [row] }, verb) => [
  [strong(topicName(topic)), ` ${verb}: ${inOrder(kind, row).map(rateOf).join(" → ")} of the ${store.pictures ? "photos" : "documents"}`],
  topicHref(topic),
];

// The groups of documents that a finding compares: [about the topic, all, name].
function groupsOf({ kind, tags, counts: [row, second] }) {
  if (kind === "together") return [[...row.slice(0, 2), "with both"], ...[row, second].map((one, i) => [...othersOf(one), `with only ${tagShort(tags[i])}`])];
  if (kind === "apart" || kind === "unclear") return [[...row.slice(0, 2), `with ${tagShort(tags[0])}`], [...othersOf(row), "without"]];
  const names = halvesOf(store.time);
  return inOrder(kind, row).map((half, i) => [...half.slice(0, 2), `in ${names[i]}`]);
}
function evidenceOf(one) {
  const { kind, counts: [, second] } = one;
  const parts = groupsOf(one).map(([found, of, name]) => `${whole(found)} of ${whole(of)} ${name}`);
  return second && kind !== "together" ? [...parts, `without uneven tags ${inOrder(kind, second).map(rateOf).join(" → ")}`] : parts;
}
