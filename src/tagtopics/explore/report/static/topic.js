// A topic: words by relevance, tags, documents, years. And a word: its topics.
function topicPage(k) {
  if (!(k >= 0 && k < store.K)) return missingPage("No such topic");
  const order = topOf(store.topics.share, store.K);
  const at = order.indexOf(k);
  return [
    h(
      "div",
      { class: "hero", vars: { "--hue": topicHue(k) } },
      h(
        "p",
        { class: "steps" },
        at > 0 ? link(topicHref(order[at - 1]), { rel: "prev" }, "← larger") : h("span", {}),
        at < store.K - 1 ? link(topicHref(order[at + 1]), { rel: "next" }, "smaller →") : null,
      ),
      h("p", { class: "eyebrow" }, isBackground(k) ? `Topic ${k}: background, spread over the whole collection` : `Topic ${k}`),
      h("h1", {}, badge(k), h("bdi", {}, topicName(k))),
      h(
        "p",
        { class: "lead" },
        store.pictures
          ? `This topic accounts for ${percent(store.topics.share[k])} of all parts of the photos; its most typical tags are ${store.labels[k].join(", ")}.`
          : `This topic accounts for ${percent(store.topics.share[k])} of all words; its most telling words are ${store.labels[k].join(", ")}.`,
      ),
      h(
        "p",
        { class: "note" },
        store.topics.coherence.length && !store.pictures
          ? `Number ${at + 1} of ${store.K} by share; coherence ${store.topics.coherence[k].toFixed(2)}.`
          : `Number ${at + 1} of ${store.K} by share.`,
      ),
      nameEditor(k),
    ),
    h(
      "div",
      { class: "split" },
      store.pictures ? topicDocuments(k) : topicWords(k),
      h(
        "div",
        {},
        topicTags(k),
        store.time
          ? card("Over time", "Mean share of the topic in the documents of each period.", topicLine(k))
          : null,
        nearTopics(k),
      ),
    ),
    store.pictures ? null : topicDocuments(k),
  ];
}

function topicWords(k) {
  const box = h("div");
  const draw = (weight) => {
    const rows = relevant(k, weight, 30);
    box.replaceChildren(
      bars(
        rows.map(([w, p, lift]) => ({
          label: h("bdi", {}, store.words.names[w]),
          value: p,
          text: `${percent(p)}  ${times(lift)}`,
          hue: topicHue(k),
          href: wordHref(w),
          title: `${percent(p)} of the topic, ${times(lift)} as often as in the collection`,
        })),
        { name: "Words" },
      ),
    );
  };
  const given = Math.round(20 * Number(stateOf().get("weight") ?? RELEVANCE)) / 20;
  const first = given >= 0 && given <= 1 ? given : RELEVANCE;
  const asText = (weight) => weight.toFixed(2).replace(/0$/, "");
  draw(first);
  const shown = h("output", { for: "weight" }, asText(first));
  const slider = h("input", {
    id: "weight",
    type: "range",
    min: 0,
    max: 1,
    step: 0.05,
    value: first,
    on: {
      input: (event) => {
        const weight = Number(event.target.value);
        shown.textContent = asText(weight);
        keepState("weight", weight, RELEVANCE);
        draw(weight);
      },
    },
  });
  return card(
    "Words",
    "Bar: share of the topic. Number: how many times more frequent than in the whole collection.",
    h(
      "div",
      { class: "slider" },
      h("label", { for: "weight" }, "Relevance"),
      h("span", { class: "end" }, "rare, specific"),
      slider,
      h("span", { class: "end" }, "frequent"),
      shown,
    ),
    box,
  );
}

function topicTags(k) {
  if (!store.tags.names.length) return null;
  const own = (t) => store.tagRoots[t * store.K + k] ** 2;
  return card(
    "Tags",
    "Tags with much of this topic and many documents, the most typical first. Number: share of the topic in what is credited to the tag.",
    bars(
      store.topics.tags[k].map((t) => ({
        label: tagLabel(t),
        value: own(t),
        text: share(own(t)),
        hue: topicHue(k),
        href: tagHref(t),
        title: plural(store.tags.documents[t], "document"),
      })),
      { most: 1, name: "Tags" },
    ),
  );
}

function nearTopics(k) {
  if (store.K < 3) return null;
  return card(
    "Similar topics",
    store.pictures ? "Topics with similar colours and textures; 100 % means equal." : "Topics with similar words; 100 % means equal.",
    h(
      "ul",
      { class: "near" },
      store.topics.near[k].map((j, i) =>
        h(
          "li",
          {},
          link(topicHref(j), {}, badge(j), h("span", {}, topicLabel(j, 4))),
          h("span", { class: "figure", "data-value": store.topics.alike[k][i] }, percent(store.topics.alike[k][i])),
        ),
      ),
    ),
  );
}

function topicDocuments(k) {
  const share = store.documents.ids.map((_, d) => store.docRoots[d * store.K + k] ** 2);
  const best = topOf(share, 200).filter((d) => share[d] >= 0.05);
  return card(
    store.pictures ? "Photos" : "Documents",
    store.pictures ? "Photos with the largest share of this topic." : "Documents with the largest share of this topic.",
    growing(best, (d) => documentRow(d, { figure: percent(share[d]), value: share[d] }), 8),
  );
}

function wordPage(w) {
  if (!(w >= 0 && w < store.words.names.length)) return missingPage("No such word");
  const n = store.words.perTopic;
  const topics = store.words.topics.slice(w * n, (w + 1) * n);
  const shares = topics.map((_, i) => store.wordShares[w * n + i] ** 2);
  const rest = Math.max(0, 1 - shares.filter((p) => p >= 0.01).reduce((sum, p) => sum + p, 0));
  const tags = store.tags.names.map((_, t) => t).filter((t) => store.tags.words[t].includes(w));
  const credit = (t) => store.tags.credits[t][store.tags.words[t].indexOf(w)];
  tags.sort((a, b) => credit(b) - credit(a));
  return [
    h(
      "div",
      { class: "hero" },
      h("h1", {}, h("bdi", {}, store.words.names[w])),
      h(
        "p",
        { class: "lead" },
        store.corpus
          ? `A word that occurs ${plural(store.words.weight[w], "time")}, in ${plural(store.words.inDocuments[w], "document")}.`
          : `A word that occurs about ${plural(store.words.weight[w], "time")}, by the model; the corpus itself is not known.`,
      ),
    ),
    h(
      "div",
      { class: "split" },
      card(
        "Topics",
        "The topics of its occurrences; all add up to 100 %.",
        bars(
          [
            ...topics.map((k, i) => ({
              label: [badge(k), h("span", {}, topicLabel(k))],
              value: shares[i],
              text: percent(shares[i]),
              hue: topicHue(k),
              href: topicHref(k),
            })),
            { label: "all other topics", value: rest, text: share(rest), hue: 0, grey: true },
          ].filter((row) => row.value >= (row.grey ? 1e-4 : 0.01)),
          { most: 1, name: "Topics" },
        ),
      ),
      tags.length
        ? card(
            "Tags",
            "Tags for which it is characteristic, with the occurrences credited to each.",
            bars(
              tags
                .slice(0, 12)
                .map((t) => ({
                  label: tagLabel(t),
                  value: credit(t),
                  text: tokens(credit(t)),
                  href: tagHref(t),
                })),
              { name: "Tags" },
            ),
          )
        : null,
    ),
    store.words.documents[w].length
      ? card(
          "Documents",
          "Documents in which its share is largest.",
          documentList(store.words.documents[w].map((d) => documentRow(d))),
        )
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

