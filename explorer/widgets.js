// Shared components: tag chips, lists of documents, a combobox.
import { bdi, button, h, link, plural, settings, slotHue, whole } from "./dom.js";
import { asked, dateOf, packedBody, store, tagFull, tagInThesaurus, tagLabel, titleOf } from "./data.js";
import { documentHref, nextList, tagHref, wordHref } from "./address.js";
import { findTags } from "./texts.js";

export const tagChip = (t, note) =>
  link(tagHref(t),
    { class: "chip", title: tagInThesaurus(t) || tagFull(t).length > 40 ? `${tagFull(t)} ${tagInThesaurus(t) ? store.tags.names[t] : ""}`.trim().slice(0, 300) : null },
    tagLabel(t),
    note ? h("small", {}, note) : null,
  );
export const tagChips = (tags) => h("p", { class: "chips" }, tags.map((t) => tagChip(t)));
// Links that leave the tags of one kind, or of all; none if there is only one kind.
export function kindLinks(page, shown) {
  if (store.kinds.size < 2) return null;
  const one = (href, text, current) => link(href, { class: "chip", "aria-current": current ? "true" : null }, text);
  const kinds = [...store.kinds.keys()];
  return h("p", { class: "filter" },
    one(page, "all", shown === null),
    kinds.map((kind) => one(`${page}?kind=${encodeURIComponent(kind)}`, kind || "other", shown === kind)),
  );
}
export const wordLink = (w) => link(wordHref(w), { class: "word" }, bdi(store.words.names[w]));

// Tags that were chosen, each with a button to remove it.
export function chosenTags(label, tags, firstHue, remove, draw = (t) => h("span", {}, tagLabel(t))) {
  if (!tags.length) return null;
  const row = (t, i) =>
    h("li", { vars: { "--hue": slotHue(firstHue + i) } },
      draw(t),
      button("×", () => remove(t), { "aria-label": `Remove ${tagFull(t)}` }),
    );
  return h("ul", { class: "chosen", "aria-label": label }, tags.map(row));
}

// The small picture of a document that is a photo, and what fetches it.
export function thumbnail(d) {
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
export async function photoOf(d) {
  if (!settings.photos) return null;
  if (settings.live) return asked(`data/photos/${store.documents.rows[d]}`);
  const found = await packedBody(d);
  return (found && found.p) || null;
}
export function filledInView(row, { fill }) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    fill();
  });
  watcher.observe(row);
  return row;
}

/** @param {number} d @param {{ figure?: string, reasons?: any }} more */
export function documentRow(d, { figure, reasons } = {}) {
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
export function growing(items, draw, step = 25, list = "ol", kind = "documents") {
  const box = h(list, { class: kind });
  const [own, number] = nextList();
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
let fields = 0;
export const freshId = (kind) => `${kind}-${++fields}`; // for elements of which a page may have several
export function tagBox(label, except, chosen) {
  const id = freshId("box");
  const list = h("div", { id: `${id}-list`, role: "listbox", "aria-label": label, class: "options", hidden: true });
  const input = h("input", {
    id, type: "text", role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": list.id,
    autocomplete: "off", spellcheck: "false", placeholder: "Add a tag …",
  });
  const option = (t) => ({ draw: () => [h("span", {}, tagLabel(t)), h("small", {}, plural(store.tags.documents[t], "document"))], choose: () => chosen(t) });
  attachOptions(input, list, (text) => findTags(text, 12).filter((t) => !except.includes(t)).map(option));
  return h("div", { class: "combo" }, h("label", { for: id }, label), input, list);
}

// The behaviour of a combobox: `options(text)` returns { draw, choose, group }; the list follows the input.
export function attachOptions(input, list, options, submitted) {
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

export function choice(legend, name, options, value, changed) {
  return h("fieldset", { class: "choice" },
    h("legend", {}, legend),
    options.map(([key, text]) =>
      h("label", {},
        h("input", { type: "radio", name, value: key, checked: key === value, on: { change: () => changed(key) } }),
        h("span", {}, text),
      ),
    ),
  );
}
