// How to read the pages: the data, the model, how far to trust it, what the words mean.
import { h, hero, lead, percent, plural, settings, topOf, whole } from "./dom.js";
import { ofListed, store } from "./data.js";
import { TOPIC_FROM } from "./filter.js";
import { barFigure, card, factsFigure, topicItem } from "./figure.js";

const GLOSSARY = [
  ["Topic", "A set of words that tend to occur in the same documents. The model finds topics; nobody defines them. A name is made from a topic's most telling words and tags."],
  ["Background topic", "A topic that is spread over the whole collection, so that it says little about a single document or tag. It is shown in grey and left out where topics characterise something."],
  ["Share", "The part of the words that belongs to a topic: of all words, of those in a document, of those credited to a tag. Shares add up to 100 %."],
  ["Tag", "A label that a document already had: an author, a subject, a venue. A tag written kind:name has a kind."],
  ["Credit", "How likely each tag of a document accounts for one of its words, by the model: p(tag | word, document). The credits of a word add up to 100 %."],
  ["Lift (×)", "How many times more of something there is here than in the whole collection: of a word in a topic, of a topic in a tag."],
  ["Together", "The topics that several tags have in common: the product of their profiles, scaled to 100 %."],
  ["Alike", "Overlap of two lists of shares (Bhattacharyya coefficient): 100 % if equal, 0 % for the mean of all pairs."],
  ["Coherence", "How often a topic's ten top words occur in the same document (NPMI): 1 always, 0 as by chance, −1 never."],
  ["Perplexity", "How many equally likely words the model hesitates between when it predicts hidden words; lower is better. Topics are inferred from 80 % of each document's words and scored on the other 20 %."],
];

export function aboutPage() {
  const { sizes, facts, parameters } = store;
  const most = parameters.max_iter;
  const swept = facts.iterations
    ? facts.iterations < most
      ? `${whole(facts.iterations)} of at most ${whole(most)} sweeps: stopped early, because the topics no longer changed.`
      : `${whole(facts.iterations)} of at most ${whole(most || facts.iterations)} sweeps: the limit was reached, so topics may still have been changing.`
    : null;
  const left = sizes.documents - settings.bodies;
  return [
    hero("Trust", "How to read this", lead("Where the numbers come from, what they mean, and how far you can trust them.")),
    store.about ? card("About the collection", null, store.about.split(/\n\s*\n/).map(aboutPart)) : null,
    h("div", { class: "split" },
      h("div", {},
        factsFigure("Data", null, [
          ["Collection", store.title],
          ["Documents", whole(sizes.documents)],
          ["Listed in this file", whole(sizes.listed)],
          ["With text or words", store.pictures ? null : left > 0 ? leftOut(left) : "all"],
          ["With photo", store.pictures ? `${whole(settings.photos)}; ${whole(sizes.documents - settings.photos)} left out` : null],
          ["With heat maps", store.pictures ? whole(settings.heated) : null],
          ["Different words", whole(sizes.words)],
          ["Words in all (tokens)", facts.tokens ? whole(facts.tokens) : null],
          ["Tags", whole(sizes.tags)],
          ["Workbench", settings.live ? null : benchFact()],
          ["Time", store.time ? `${store.time.periods[0]} to ${store.time.periods.at(-1)}` : null],
        ]),
        recipeFacts(),
      ),
      h("div", {},
        factsFigure("Model", null, [
          ["Kind", store.model],
          ["Topics", whole(store.K)],
          ["Seed", parameters.random_state ?? "not set"],
          ["Sweeps", swept],
          ["Fitted", store.fitted ? `${store.fitted.slice(0, 10)} ${store.fitted.slice(11, 16)} UTC` : "unknown"],
          ["Made with", `tagtopics ${settings.version}`],
        ], "facts", Object.entries(parameters).map(([name, value]) => [name, value === null ? "default" : value])),
        factsFigure("Quality", "Measured on this collection.", qualityFacts()),
      ),
    ),
    weakTopics(),
    card("What credit is, and what it is not", null,
      h("p", {}, "Credit says which tag of a document best accounts for a word, given how the tag is used in other documents. It is an estimate about vocabulary."),
      h("p", {},
        h("strong", {}, "It is not a contribution."),
        " ",
        "If tags are authors, “53 %” does not mean that this author wrote 53 % of the text, had more ideas, or deserves more of the merit. It means that 53 % of the words resemble what this author's other documents are about. Authors with few documents get little credit because little is known of them.",
      ),
    ),
    factsFigure("Glossary", null, GLOSSARY, "glossary"),
  ];
}

// A paragraph or heading; of Markdown, links to http and https are made, the rest is text.
const LINK = /(\[[^\]\n]+\]\(https?:\/\/[^\s()]+\)|https?:\/\/[^\s<>"()]+)/;
function aboutPart(text) {
  const [, mark, rest] = /^(#+ )?([^]*)$/.exec(text);
  const parts = rest.split(LINK).map((part) => {
    const [, name, href] = /^\[(.+)\]\((.+)\)$/.exec(part) || [];
    return LINK.test(part) ? h("a", { href: href || part, rel: "noopener noreferrer external", target: "_blank" }, name || part) : part;
  });
  return h(mark ? "h3" : "p", { dir: "auto" }, parts);
}

function weakTopics() {
  const { coherence } = store.topics;
  if (!coherence.length || store.pictures) return null;
  const mean = coherence.reduce((sum, x) => sum + x, 0) / store.K;
  const n = (k) => store.documents.ids.filter((_, d) => store.docRoots[d * store.K + k] ** 2 >= TOPIC_FROM).length;
  const row = (k) => ({ ...topicItem(k, Math.max(coherence[k], 0), `${coherence[k].toFixed(2)}, ${plural(n(k), "document")}`), mean });
  return barFigure({
    title: "Weak topics", question: `Topics whose words occur together least (coherence), and the documents${ofListed()} with at least ${percent(TOPIC_FROM)} of them. The thin line is the mean of all topics.`,
    rows: topOf(coherence.map((x) => -x), store.K).map(row), shown: 5, axis: "Coherence", form: (x) => x.toFixed(2),
  });
}

const leftOut = (left) =>
  `${whole(settings.bodies)}; ${whole(left)} left out (${store.corpus ? "size limit, --max-mb" : "the corpus was not given"})`;

function meanCoherence() {
  const { coherence } = store.topics;
  return coherence.length && !store.pictures ? (coherence.reduce((a, b) => a + b, 0) / store.K).toFixed(2) : null;
}

function qualityFacts() {
  const { facts } = store;
  return [
    ["Mean coherence (NPMI)", meanCoherence()],
    ["Perplexity of new documents", facts.pilot_hidden ? pilotFact(facts) : "not measured; run tagtopics evaluate"],
    ["Perplexity of training documents", facts.training_perplexity ? `${whole(facts.training_perplexity)}, on ${plural(facts.scored_documents, "document")}; do not compare models by it, they have seen these documents` : null],
    ["Without topics", facts.perplexity_without_topics ? whole(facts.perplexity_without_topics) : null],
  ];
}

// The model itself has seen all documents; a pilot without some of them has not.
const pilotFact = (facts) =>
  `${whole(facts.pilot_hidden)} with their tags hidden, ${whole(facts.pilot_known)} with their tags known: ${whole(facts.pilot_documents)} documents, predicted by a pilot, a shorter fit without them.`;

function recipeFacts() {
  if (store.pictures) return card("Visual words", `Photos became counts of ${whole(store.sizes.words)} visual words: small tiles of similar texture or colour.`);
  if (!store.recipe) return card("Text recipe", "Unknown: the collection came as counts.");
  const told = (value) => (Array.isArray(value) && value.length > 8 ? `a list of ${whole(value.length)}` : value === null ? "default" : String(value));
  return factsFigure("Text recipe", "How texts became words: the parameters of TextRecipe.", Object.entries(store.recipe).map(([name, value]) => [name, told(value)]));
}

// Whether new texts can be analysed in this file, and if not, why.
const benchFact = () =>
  settings.bench
    ? "in this file; the model is rounded"
    : ({
        photos: "not in this file: it is a model of photos; run tagtopics serve",
        counts: "not in this file: the collection came as counts, so it is not known how texts become words",
        size: "not in this file: it would take too much of it; run tagtopics serve",
      })[settings.benchless] ?? (settings.benchless ? `not in this file: a browser cannot find words by its ${settings.benchless}; run tagtopics serve` : null);
