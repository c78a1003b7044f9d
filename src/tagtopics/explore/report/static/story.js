// Stories: captioned views in order. One may come with the file; the reader's own is kept by the browser.
const storyKey = () => `tagtopics-story ${store.title}`;
let ownStory = null;

// What a stored or loaded story may be; anything else is left out.
function asStory(value) {
  const text = (part, most) => (typeof part === "string" ? part.slice(0, most) : "");
  const steps = value && Array.isArray(value.steps) ? value.steps : [];
  return {
    title: text(value && value.title, 200),
    steps: steps
      .filter((step) => step && typeof step.view === "string" && step.view.startsWith("#/"))
      .slice(0, 200)
      .map((step) => ({ view: plainHash(step.view.slice(0, 4000)), caption: text(step.caption, 600) })),
  };
}
function story() {
  if (ownStory) return ownStory;
  try {
    const saved = localStorage.getItem(storyKey());
    if (saved) return (ownStory = asStory(JSON.parse(saved)));
  } catch {
    /* a browser may forbid it */
  }
  return (ownStory = asStory(settings.story));
}
function keepStory(next) {
  ownStory = asStory(next);
  try {
    localStorage.setItem(storyKey(), JSON.stringify(ownStory));
  } catch {
    /* a browser may forbid it */
  }
}
const addStep = (view, caption) => keepStory({ ...story(), steps: [...story().steps, { view, caption }] });
const storyFile = () => JSON.stringify({ format: "tagtopics story", ...story() }, null, 1);
const stepHref = (i) => hashWith(story().steps[i].view, { story: i + 1 });

// The caption above a view, with the way to the views before and after.
function storyBar() {
  const at = Number(stateOf().get("story")) - 1;
  const { steps, title } = story();
  if (!Number.isInteger(at) || !steps[at]) return null;
  const n = steps.length;
  return h(
    "section",
    { class: "storybar", "aria-label": T`Story` },
    h("p", { class: "eyebrow" }, title || T`Story`, " · ", T`${at + 1} of ${n}`),
    h("p", { class: "caption", dir: "auto" }, steps[at].caption),
    h(
      "p",
      { class: "steps" },
      at > 0 ? link(stepHref(at - 1), { class: "action", rel: "prev" }, T`← Back`) : null,
      at + 1 < n ? link(stepHref(at + 1), { class: "action main", rel: "next" }, T`Next →`) : null,
      link("#/story", {}, T`All views`),
    ),
  );
}

function storyPage() {
  const { steps, title } = story();
  const changed = (next) => {
    keepStory(next);
    route();
  };
  const moved = (i, by) => {
    const next = [...steps];
    [next[i], next[i + by]] = [next[i + by], next[i]];
    changed({ title, steps: next });
  };
  const name = h("input", {
    id: "story-title",
    type: "text",
    value: title,
    maxlength: 200,
    dir: "auto",
    on: { change: () => keepStory({ ...story(), title: name.value }) },
  });
  return [
    h(
      "div",
      { class: "hero" },
      h("p", { class: "eyebrow" }, T`Story`),
      h("h1", {}, h("bdi", {}, title || T`A story of captioned views`)),
      h(
        "p",
        { class: "lead" },
        steps.length
          ? T`${whole(steps.length)} views of this collection in order, each with a caption.`
          : T`Open any page, press Share, write a caption and add the view to the story.`,
      ),
      steps.length ? h("p", {}, link(stepHref(0), { class: "action main" }, T`Play from the start`)) : null,
    ),
    steps.length ? h("ol", { class: "story" }, steps.map((step, i) => storyStep(step, i, steps, changed, moved))) : null,
    h(
      "section",
      { class: "card" },
      h("h2", {}, T`Keep and pass on`),
      h("p", { class: "note" }, T`This browser keeps the story. Save it as a file to pass it on, or to put it into a report with --story.`),
      h("div", { class: "copied" }, h("label", { for: "story-title" }, T`Title of the story`), name),
      h(
        "div",
        { class: "row" },
        steps.length
          ? h("button", { type: "button", class: "action", on: { click: () => download("story.json", "application/json", storyFile()) } }, T`Save as a file`)
          : null,
        storyLoader(changed),
      ),
    ),
  ];
}

function storyStep(step, i, steps, changed, moved) {
  const caption = h("textarea", {
    id: `caption-${i}`,
    rows: 2,
    maxlength: 600,
    dir: "auto",
    on: { change: () => keepStory({ ...story(), steps: steps.map((one, j) => (j === i ? { ...one, caption: caption.value } : one)) }) },
  });
  caption.value = step.caption;
  const button = (text, name, act) => h("button", { type: "button", class: "action", "aria-label": name, title: name, on: { click: act } }, text);
  return h(
    "li",
    { class: "card" },
    h("label", { for: `caption-${i}` }, T`Caption of view ${i + 1}`),
    caption,
    h(
      "p",
      { class: "steps" },
      link(stepHref(i), {}, h("bdi", {}, decoded(step.view))),
      i > 0 ? button("↑", T`Move view ${i + 1} up`, () => moved(i, -1)) : null,
      i + 1 < steps.length ? button("↓", T`Move view ${i + 1} down`, () => moved(i, 1)) : null,
      button("×", T`Remove view ${i + 1}`, () => changed({ ...story(), steps: steps.filter((_, j) => j !== i) })),
    ),
  );
}

function storyLoader(changed) {
  const input = h("input", {
    id: "story-file",
    type: "file",
    accept: "application/json,.json",
    on: {
      change: async () => {
        try {
          const found = asStory(JSON.parse(await input.files[0].text()));
          if (!found.steps.length) throw new Error(T`The file has no views.`);
          changed(found);
        } catch (error) {
          say(error.message);
          wrong.textContent = error.message;
        }
      },
    },
  });
  const wrong = h("span", { class: "wrong", role: "alert" });
  return h("span", { class: "loader" }, h("label", { for: "story-file" }, T`Open a file`), input, wrong);
}
