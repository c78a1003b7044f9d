// A topic: words, tags, documents, years. And a word: its topics.
function topicPage(k) {
  if (!(k >= 0 && k < store.K)) return missingPage("No such topic");
  const order = topOf(store.topics.share, store.K);
  const at = order.indexOf(k);
  const { coherence } = store.topics;
  const coherent = coherence.length && !store.pictures ? `; coherence ${coherence[k].toFixed(2)}` : "";
  const telling = store.pictures ? "parts of the photos; its most typical tags" : "words; its most telling words";
  return [
    h("div", { class: "hero", vars: { "--hue": topicHue(k) } },
      h("p", { class: "steps" },
        at > 0 ? link(topicHref(order[at - 1]), { rel: "prev" }, "← larger") : h("span", {}),
        at < store.K - 1 ? link(topicHref(order[at + 1]), { rel: "next" }, "smaller →") : null,
      ),
      h("p", { class: "eyebrow" }, isBackground(k) ? `Topic ${k}: background, spread over the whole collection` : `Topic ${k}`),
      h("h1", {}, badge(k), h("bdi", {}, topicName(k))),
      lead(`This topic accounts for ${percent(store.topics.share[k])} of all ${telling} are ${store.labels[k].join(", ")}.`),
      h("p", { class: "note" }, `Number ${at + 1} of ${store.K} by share${coherent}.`),
      nameEditor(k),
    ),
    h("div", { class: "split" },
      store.pictures ? topicDocuments(k) : topicWords(k),
      h("div", {},
        topicTags(k),
        store.time ? topicLine(k) : null,
        nearTopics(k),
        topicPlaces(k),
      ),
    ),
    store.pictures ? null : topicDocuments(k),
  ];
}

function topicWords(k) {
  const row = ([w, value, lift]) => ({
    ...wordItem(w, value, `${percent(value)}  ${times(lift)}`), lift, hue: topicHue(k),
    title: `${percent(value)} of the topic, ${times(lift)} as often as in the collection`,
  });
  return barFigure({
    title: "Words",
    question: "Words that tell the topic apart and occur together. Bar: share of the topic. Number: how many times more frequent than in the whole collection.",
    rows: wordsOf(k, Infinity).map(row), columns: { ...ITEM, lift: (one) => one.lift }, shown: 30, axis: "Share of the topic",
  });
}

function topicTags(k) {
  if (!store.tags.names.length) return null;
  const row = (t, i) => {
    const [value, lift] = [store.tagRoots[t * store.K + k] ** 2, store.topics.lifts[k][i]];
    return { ...tagItem(t, value, `${share(value)}  ${times(lift)}`), lift, hue: topicHue(k), title: plural(store.tags.documents[t], "document") };
  };
  return barFigure({
    title: "Tags",
    question: "Tags with much more of this topic than the collection and many documents, the most typical first. Bar: share of the topic in what is credited to the tag. Number: how many times the share in the whole collection.",
    rows: store.topics.tags[k].map(row), columns: { ...ITEM, lift: (one) => one.lift, documents: ({ t }) => store.tags.documents[t] }, axis: "Share of the topic in the tag", most: 1,
  });
}

function nearTopics(k) {
  if (store.K < 3) return null;
  const row = ({ id, text }) => h("li", {}, link(topicHref(id), {}, badge(id), h("span", {}, topicLabel(id, 4))), h("span", { class: "figure" }, text));
  const what = store.pictures ? "colours and textures" : "words";
  const rows = store.topics.near[k].map((j, i) => topicItem(j, store.topics.alike[k][i]));
  return listFigure({ title: "Similar topics", question: `Topics with similar ${what}; 100 % means equal.`, rows, axis: "Overlap of words" }, "near", row);
}

function topicPlaces(k) {
  const docs = [...store.documents.ids.keys()].filter((d) => store.docRoots[d * store.K + k] ** 2 >= TOPIC_FROM);
  return placesFigure(`The documents that have at least ${percent(TOPIC_FROM)} of this topic.`, [{ name: topicName(k), docs, hue: topicHue(k) }], { topic: k });
}

function topicDocuments(k) {
  const share = store.documents.ids.map((_, d) => store.docRoots[d * store.K + k] ** 2);
  const rows = topOf(share, share.length).filter((d) => share[d] >= 0.05).map((d) => documentItem(d, share[d], percent(share[d])));
  const title = store.pictures ? "Photos" : "Documents";
  return documentFigure({ title, question: `${title} with the largest share of this topic.`, rows, axis: "Share of the topic" });
}

function wordPage(w) {
  const { names, perTopic, weight, inDocuments, documents } = store.words;
  if (!(w >= 0 && w < names.length)) return missingPage("No such word");
  const topics = store.words.topics.slice(w * perTopic, (w + 1) * perTopic);
  const rows = topics.map((k, i) => topicItem(k, store.wordShares[w * perTopic + i] ** 2)).filter((row) => row.value >= 0.01);
  const rest = Math.max(0, 1 - rows.reduce((sum, row) => sum + row.value, 0));
  if (rest >= 1e-4) rows.push({ name: "all other topics", label: "all other topics", value: rest, text: share(rest), hue: 0, grey: true });
  const tags = store.tags.names.map((_, t) => t).filter((t) => store.tags.words[t].includes(w));
  const credit = (t) => store.tags.credits[t][store.tags.words[t].indexOf(w)];
  tags.sort((a, b) => credit(b) - credit(a));
  const often = plural(weight[w], "time");
  return [
    hero(null, h("bdi", {}, names[w]),
      lead(
        store.corpus
          ? `A word that occurs ${often}, in ${plural(inDocuments[w], "document")}.`
          : `A word that occurs about ${often}, by the model; the corpus itself is not known.`,
      ),
      store.corpus
        ? h("p", {}, link(`#/?words=${inAddress(names[w])}`, {}, "All of them on the map →"), store.time ? [" ", link(`#/time?words=${inAddress(names[w])}`, {}, "Over time →")] : null)
        : null,
    ),
    h("div", { class: "split" },
      barFigure({ title: "Topics", question: "The topics of its occurrences; all add up to 100 %.", rows, axis: "Share of its occurrences", most: 1 }),
      tags.length
        ? barFigure({
            title: "Tags", question: "Tags for which it is characteristic, with the occurrences credited to each.",
            rows: tags.map((t) => tagItem(t, credit(t), tokens(credit(t)))), shown: 12, axis: "Occurrences credited to the tag", form: tokens,
          })
        : null,
    ),
    documents[w].length
      ? documentFigure({ title: "Documents", question: "Documents in which its share is largest.", rows: documents[w].map((d) => documentItem(d)) })
      : null,
  ];
}

// A page that does not exist: what its address may have meant.
function missingPage(title) {
  const [, kind, rest] = /^#\/(\w+)\/([^?]*)/.exec(location.hash) || [];
  const name = decoded(rest || "").slice(0, 200);
  const near = kind === "tag" ? nearTags(name, 8) : [];
  return [
    h("h1", {}, title),
    name ? h("p", {}, `Nothing here is called “${name}”.`) : null,
    near.length ? h("p", { class: "chips" }, "Similar names:", " ", near.map((t) => tagChip(t))) : null,
    name ? h("p", {}, link(`#/search/${encodeURIComponent(name)}`, {}, `Search for “${name}”`)) : null,
    h("p", {}, link("#/", {}, "Back to the overview")),
  ];
}
