// A tag: its topics, credited words, similar tags.
function tagPage(t) {
  if (!(t >= 0 && t < store.tags.names.length)) return missingPage("No such tag");
  const credits = store.tags.words[t].map((w, i) => wordItem(w, store.tags.credits[t][i], tokens(store.tags.credits[t][i])));
  const rows = [credits.slice(0, 24).sort((a, b) => b.value - a.value), credits.slice(24)].flat();
  const n = store.tags.documents[t];
  const parts = store.pictures ? "parts of photos" : "words";
  return [
    hero(tagKind(t) ? `Tag · ${tagKind(t)}` : "Tag", h("bdi", {}, tagShort(t)),
      tagInThesaurus(t) ? h("p", { class: "source" }, h("bdi", {}, store.tags.names[t])) : null,
      lead(
        `${plural(n, "document")} ${n === 1 ? "has" : "have"} this tag`,
        moreAbout(tagProfile(t)),
        " · ",
        link(groupHref([t]), {}, "compare with other tags"),
      ),
    ),
    h("div", { class: "split" },
      h("div", {},
        topicFigure(`Mean topics of the ${parts} credited to this tag.`, tagProfile(t), 10),
        tagLine(t),
        placesFigure(`The documents that have this tag${ofListed()}.`, [{ name: tagFull(t), docs: store.docsOfTag[t], hue: 255 }], { tag: store.tags.names[t] }),
        similarTags(t),
      ),
      h("div", {},
        rows.length && !store.pictures
          ? barFigure({
              title: "Credited words", question: "The most characteristic ones, by how many occurrences are credited to this tag.",
              rows, shown: 24, axis: "Occurrences credited to the tag", form: tokens,
            })
          : null,
        usedWith(t),
      ),
    ),
    tagDocuments([t]),
  ];
}

// "; more than others about A (40 %, ×5.0) and B (20 %, ×2.1)": background topics do not count.
function moreAbout(profile) {
  const lift = (k) => profile[k] / store.topics.share[k];
  const weight = profile.map((p, k) => (isBackground(k) || p < 0.03 || lift(k) < 1.2 ? 0 : p * Math.log(lift(k))));
  const best = topOf(weight, 2).filter((k) => weight[k] > 0);
  const about = best.map((k) => `${topicName(k)} (${percent(profile[k])}, ${times(lift(k))})`);
  return about.length ? `; more than the collection about ${about.join(" and ")}.` : ".";
}

const jointLink = (t, u) =>
  link(groupHref([t, u]), { class: "joint", "aria-label": `See ${tagFull(t)} and ${tagFull(u)} together` }, "together");
// A list of tags beside a tag.
const besideFigure = (t, own) =>
  listFigure({ ...own, shown: 8 }, "neighbours", ({ t: u, text }) => h("li", {}, tagChip(u), h("span", { class: "figure" }, text), jointLink(t, u)));

function similarTags(t) {
  const alike = Float64Array.from({ length: store.tags.names.length }, (_, u) =>
    u === t || tagKind(u) !== tagKind(t) ? -1 : overlap(store.tagRoots, t, store.tagRoots, u),
  );
  const rows = topOf(alike, 200).filter((u) => alike[u] > 0).map((u) => tagItem(u, alike[u], percent(alike[u])));
  const question = tagKind(t) ? "Tags of the same kind with similar topics; 100 % means equal." : "Tags with similar topics; 100 % means equal.";
  return rows.length ? besideFigure(t, { title: "Alike", question, rows, axis: "Overlap of topics" }) : null;
}

// Tags of the same documents: first those of the same kind, then others.
function usedWith(t) {
  const often = tagsWith(t).map(([u, n]) => tagItem(u, n, plural(n, "document")));
  const [own, others] = [true, false].map((same) => often.filter((row) => (tagKind(row.t) === tagKind(t)) === same));
  const question = `Tags of the same documents${ofListed()}, with the number of documents that have both.`;
  const used = (title, rows) => (rows.length ? besideFigure(t, { title, question, rows, axis: "Documents with both tags", form: whole }) : null);
  const both = own.length && others.length;
  return [
    used(both ? `Often used with: ${tagKind(t) || "other"}` : "Often used with", own),
    used(both ? "Often used with: other kinds" : "Often used with", others),
  ];
}

function tagDocuments(tags, step = 8) {
  const joint = together(tags);
  const docs = store.docsOfTag[tags[0]].filter((d) => tags.every((t) => store.documents.tags[d].includes(t)));
  if (!docs.length)
    return store.documents.tags.some((row) => row.length) ? card("Documents", "No document has all of them.") : null;
  const fit = new Map(
    docs.map((d) => {
      let sum = 0;
      for (let k = 0; k < store.K; k++) sum += store.docRoots[d * store.K + k] * Math.sqrt(joint[k]);
      return [d, sum];
    }),
  );
  docs.sort((a, b) => fit.get(b) - fit.get(a) || a - b);
  const others = (d) => store.documents.tags[d].filter((u) => !tags.includes(u)).slice(0, 8);
  const title = tags.length > 1 ? `${plural(countWith(tags), "document")} with all of them${ofListed()}` : "Documents";
  return documentFigure({ title, question: "Most typical first.", rows: docs.map((d) => documentItem(d)) }, ({ d }) => documentRow(d, { reasons: tagChips(others(d)) }), step);
}
