// Shared components: tag chips, lists of documents, a combobox.
const tagChip = (t, note) =>
  link(tagHref(t),
    { class: "chip", title: tagInThesaurus(t) || tagFull(t).length > 40 ? `${tagFull(t)} ${tagInThesaurus(t) ? store.tags.names[t] : ""}`.trim().slice(0, 300) : null },
    tagLabel(t),
    note ? h("small", {}, note) : null,
  );
const tagChips = (tags) => h("p", { class: "chips" }, tags.map((t) => tagChip(t)));
// Links that leave the tags of one kind, or of all; none if there is only one kind.
function kindLinks(page, shown) {
  if (store.kinds.size < 2) return null;
  const one = (href, text, current) => link(href, { class: "chip", "aria-current": current ? "true" : null }, text);
  const kinds = [...store.kinds.keys()];
  return h("p", { class: "filter" },
    one(page, "all", shown === null),
    kinds.map((kind) => one(`${page}?kind=${encodeURIComponent(kind)}`, kind || "other", shown === kind)),
  );
}
const wordLink = (w) => link(wordHref(w), { class: "word" }, bdi(store.words.names[w]));

// Tags that were chosen, each with a button to remove it.
function chosenTags(label, tags, firstHue, remove, draw = (t) => h("span", {}, tagLabel(t))) {
  if (!tags.length) return null;
  const row = (t, i) =>
    h("li", { vars: { "--hue": slotHue(firstHue + i) } },
      draw(t),
      button("×", () => remove(t), { "aria-label": `Remove ${tagFull(t)}` }),
    );
  return h("ul", { class: "chosen", "aria-label": label }, tags.map(row));
}

// The small picture of a document that is a photo, and what fetches it.
function thumbnail(d) {
  if (!store.pictures) return null;
  const image = h("img", { class: "thumb", alt: "", hidden: true });
  const show = (source) => {
    image.addEventListener("error", () => (image.hidden = true));
    image.src = source;
    image.hidden = false;
  };
  const fill = () =>
    settings.live
      ? settings.photos && show(`data/thumbnails/${store.documents.rows[d]}`)
      : photoOf(d).then((found) => found && show(`data:image/jpeg;base64,${found.j}`));
  return { image, fill };
}
// A photo as { j: JPEG, r, c: rows and columns of heat maps, h: heat maps }; the server makes them now.
async function photoOf(d) {
  if (!settings.photos) return null;
  if (settings.live) return asked(`data/photos/${store.documents.rows[d]}`);
  const found = await packedBody(d);
  return (found && found.p) || null;
}
function filledInView(row, { fill }) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    fill();
  });
  watcher.observe(row);
  return row;
}

/** @param {number} d @param {{ figure?: string, reasons?: any }} more */
function documentRow(d, { figure, reasons } = {}) {
  const snippet = store.documents.snippets && store.documents.snippets[d];
  const small = thumbnail(d);
  const row = h("li", { class: small ? "pictured" : null },
    h("div", { class: "headline" },
      link(documentHref(d), {}, small ? small.image : null, bdi(titleOf(d))),
      dateOf(d) ? h("small", {}, dateOf(d)) : null,
      figure ? h("span", { class: "figure" }, figure) : null,
    ),
    snippet ? h("p", { class: "snippet", dir: "auto" }, snippet, " …") : null,
    reasons || null,
  );
  return small ? filledInView(row, small) : row;
}

// Long lists are extended on demand.
function growing(items, draw, step = 25, list = "ol", kind = "documents") {
  const box = h(list, { class: kind });
  const [own, number] = [visit, listsDrawn++];
  let shown = 0;
  const click = () => {
    const first = shown;
    grow();
    const target = box.children[first] && box.children[first].querySelector("a,button");
    if (target) target.focus();
  };
  const more = button("", click, { class: "more" });
  function grow(least = 0) {
    const next = Math.max(shown + step, least);
    box.append(...items.slice(shown, next).map(draw));
    shown = Math.min(next, items.length);
    own.lists[number] = shown;
    more.textContent = `Show more (${whole(items.length - shown)} left)`;
    more.hidden = shown >= items.length;
  }
  grow(own.lists[number]);
  return [box, more];
}

// A combobox over tags: type, choose with arrows and Enter, or click.
let boxes = 0;
function tagBox(label, except, chosen) {
  const id = `box-${++boxes}`;
  const list = h("div", { id: `${id}-list`, role: "listbox", "aria-label": label, class: "options", hidden: true });
  const input = h("input", {
    id, type: "text", role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": list.id,
    autocomplete: "off", spellcheck: "false", placeholder: "Add a tag …",
  });
  const option = (t) => ({
    draw: () => [h("span", {}, tagLabel(t)), h("small", {}, plural(store.tags.documents[t], "document"))],
    choose: () => chosen(t),
  });
  attachOptions(input, list, (text) => findTags(text, 12).filter((t) => !except.includes(t)).map(option));
  return h("div", { class: "combo" }, h("label", { for: id }, label), input, list);
}

// The behaviour of a combobox: `options(text)` returns { draw, choose, group }; the list follows the input.
function attachOptions(input, list, options, submitted) {
  let found = [];
  let active = -1;
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (i) => {
    active = i;
    [...list.querySelectorAll("[role=option]")].forEach((node, j) => {
      node.setAttribute("aria-selected", String(i === j));
      if (i === j) {
        input.setAttribute("aria-activedescendant", node.id);
        node.scrollIntoView({ block: "nearest" });
      }
    });
  };
  const take = (i) => {
    const option = found[i];
    input.value = "";
    close();
    option.choose();
  };
  const row = (option, i) => {
    const mousedown = (event) => {
      event.preventDefault();
      take(i);
    };
    const props = { role: "option", id: `${list.id}-${i}`, "aria-selected": "false", on: { mousedown } };
    const isNew = option.group && option.group !== (i ? found[i - 1].group : null);
    const group = isNew ? [h("div", { class: "group", role: "presentation" }, option.group)] : [];
    return [...group, h("div", props, option.draw())];
  };
  const refresh = () => {
    found = options(input.value.trim());
    list.replaceChildren(...found.flatMap(row));
    active = -1;
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(found.length > 0));
  };
  let timer = 0;
  const caughtUp = () => {
    if (timer) {
      clearTimeout(timer);
      timer = 0;
      refresh();
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(caughtUp, 40);
  });
  input.addEventListener("focus", () => {
    if (input.value.trim() || !submitted) refresh();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      caughtUp();
      if (list.hidden) refresh();
      if (found.length) mark((active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      caughtUp();
      if (active >= 0) take(active);
      else if (submitted && input.value.trim()) {
        const text = input.value.trim();
        close();
        submitted(text);
      } else {
        refresh();
        if (found.length) take(0);
      }
    } else if (event.key === "Escape") {
      close();
    }
  });
}

// Search: prefixes first, then other matches; frequent before rare.
function matches(kind, names, weight, text, n) {
  const wanted = foldedText(text);
  const rows = [];
  foldedNames(kind, names).forEach((name, i) => {
    const at = name.indexOf(wanted);
    if (at >= 0) rows.push([name === wanted ? 0 : at === 0 || /[\s:._/-]/.test(name[at - 1]) ? 1 : 2, -weight(i), i]);
  });
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return rows.slice(0, n).map((row) => row[2]);
}
const findTopics = (text) =>
  [...Array(store.K).keys()].filter((k) => termsOf(text).every((term) => foundAt(foldedText(`${topicName(k)} ${store.labels[k].join(" ")}`), term) >= 0));
// Tags with a similar name, or with one of its words.
function nearTags(name, n) {
  const found = findTags(name, n);
  const parts = foldedText(name).split(/[\s:._/,-]+/).filter((part) => part.length > 2);
  for (const part of [foldedText(name), ...parts.reverse()])
    if (found.length < n) found.push(...similarNames("tagNames", tagsAsRead(), part, n));
  return [...new Set(found)].slice(0, n);
}
const findTags = (text, n) => matches("tags", tagsToFind(), (t) => store.tags.documents[t], text, n);
const findWords = (text, n) => matches("words", store.words.names, (w) => store.words.weight[w], text, n);
// Documents by title, id and the beginning of the text; `searchedTexts` covers all of it.
function findDocuments(text, n) {
  const titles = (foldedStore.ids ||= store.documents.ids.map((id, d) => foldedText(titleOf(d) === id ? id : `${titleOf(d)} ${id}`)));
  const named = matches("ids", titles, (d) => store.documents.tokens[d], text, n);
  const seen = new Set(named);
  const terms = termsOf(text);
  const told = [];
  const starts = texts.folded || (store.documents.snippets && foldedNames("snippets", store.documents.snippets));
  for (let d = 0; starts && d < starts.length && named.length + told.length < n; d++)
    if (!seen.has(d) && terms.every((term) => foundAt(starts[d], term) >= 0)) told.push(d);
  return [...named, ...told];
}
