// How to read the pages: the data, the model, how far to trust it, what the words mean.
const GLOSSARY = [
  ["Topic", "A set of words that tend to occur in the same documents. The model finds topics; nobody defines them. A name is made from a topic's most telling words and tags."],
  ["Background topic", "A topic that is spread over the whole collection, so that it says little about a single document or tag. It is shown in grey and left out where topics characterise something."],
  ["Share", "The part of all words, of a tag or of a document that belongs to a topic. Shares add up to 100 %."],
  ["Tag", "A label that a document already had: an author, a subject, a venue. A tag written kind:name has a kind."],
  ["Credit", "How likely each tag of a document accounts for one of its words, by the model: p(tag | word, document). The credits of a word add up to 100 %."],
  ["Lift (×)", "How many times more frequent a word is in a topic than in the whole collection."],
  ["Relevance", "The order of a topic's words: between frequent in the topic (1) and specific to it (0)."],
  ["Together", "The topics that several tags have in common: the product of their profiles, scaled to 100 %."],
  ["Alike", "Overlap of two lists of shares (Bhattacharyya coefficient): 100 % if equal, 0 % if nothing is common."],
  ["Coherence", "How often a topic's ten top words occur in the same document (NPMI): 1 always, 0 as by chance, −1 never."],
  ["Perplexity", "How many equally likely words the model hesitates between when it predicts hidden words; lower is better. Topics are inferred from 80 % of each document's words and scored on the other 20 %."],
];

function aboutPage() {
  const { sizes, facts, parameters } = store;
  const most = parameters.max_iter;
  const swept = facts.iterations
    ? `${whole(facts.iterations)} of at most ${whole(most || facts.iterations)} sweeps: ${facts.iterations < most ? "stopped early, because the topics no longer changed" : "the limit was reached, so topics may still have been changing"}.`
    : null;
  const left = sizes.documents - settings.bodies;
  return [
    h(
      "div",
      { class: "hero" },
      h("h1", {}, "How to read this"),
      h("p", { class: "lead" }, "Where the numbers come from, what they mean, and how far you can trust them."),
    ),
    h(
      "div",
      { class: "split" },
      h(
        "div",
        {},
        card(
          "Data",
          null,
          facts_([
            ["Collection", store.title],
            ["Documents", whole(sizes.documents)],
            ["Listed in this file", whole(sizes.listed)],
            ["With text or words", left > 0 ? `${whole(settings.bodies)}; ${whole(left)} left out (${store.corpus ? "size limit, --max-mb" : "the corpus was not given"})` : "all"],
            ["Different words", whole(sizes.words)],
            ["Words in all (tokens)", facts.tokens ? whole(facts.tokens) : null],
            ["Tags", whole(sizes.tags)],
            ["Time", store.time ? `${store.time.periods[0]} to ${store.time.periods.at(-1)}` : null],
          ]),
        ),
        card("Text recipe", "How texts became words.", recipeFacts()),
      ),
      h(
        "div",
        {},
        card(
          "Model",
          null,
          facts_([
            ["Kind", store.model],
            ["Topics", whole(store.K)],
            ["Seed", parameters.random_state ?? "not set"],
            ["Sweeps", swept],
            ["Made with", `tagtopics ${settings.version}`],
          ]),
          h(
            "details",
            { class: "more-facts" },
            h("summary", {}, "All parameters"),
            facts_(Object.entries(parameters).map(([name, value]) => [name, value === null ? "default" : String(value)])),
          ),
        ),
        card("Quality", "Measured on this collection.", facts_(qualityFacts())),
      ),
    ),
    card(
      "What credit is, and what it is not",
      null,
      h("p", {}, "Credit says which tag of a document best accounts for a word, given how the tag is used in other documents. It is an estimate about vocabulary."),
      h(
        "p",
        {},
        h("strong", {}, "It is not a contribution. "),
        "If tags are authors, “53 %” does not mean that this author wrote 53 % of the text, had more ideas, or deserves more of the merit. It means that 53 % of the words resemble what this author's other documents are about. Authors with few documents get little credit because little is known of them.",
      ),
    ),
    card(
      "Glossary",
      null,
      h(
        "dl",
        { class: "glossary" },
        GLOSSARY.map(([term, meaning]) => h("div", {}, h("dt", {}, term), h("dd", {}, meaning))),
      ),
    ),
  ];
}

const facts_ = (rows) =>
  h(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, String(value)))),
  );

function qualityFacts() {
  const { facts } = store;
  const coherence = store.topics.coherence;
  return [
    ["Mean coherence (NPMI)", coherence.length ? (coherence.reduce((a, b) => a + b, 0) / store.K).toFixed(2) : null],
    ["Perplexity of new documents", facts.heldout_perplexity ? whole(facts.heldout_perplexity) : "not measured; run tagtopics evaluate"],
    ["Perplexity of training documents", facts.training_perplexity ? `${whole(facts.training_perplexity)}; do not compare models by it, they have seen these documents` : null],
    ["Without topics", facts.perplexity_without_topics ? whole(facts.perplexity_without_topics) : null],
  ];
}

function recipeFacts() {
  if (!store.recipe) return h("p", {}, "Unknown: the collection came as counts.");
  return facts_(
    Object.entries(store.recipe).map(([name, value]) => [
      name.replaceAll("_", " "),
      value === null ? "default" : Array.isArray(value) ? (value.length > 8 ? `${value.length} entries` : value.join(", ")) : String(value),
    ]),
  );
}
