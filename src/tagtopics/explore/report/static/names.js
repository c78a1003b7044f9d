// Names of topics: the model's, or the reader's own, which this browser keeps and the page exports.
const ownNames = new Map();
const namesKey = () => `tagtopics-names ${store.title} ${store.K} ${store.topics.names.join("|").length}`;

function readNames() {
  for (const [k, name] of Object.entries(kept(namesKey())))
    if (isNumber(k) && Number(k) < store.K && typeof name === "string" && name) ownNames.set(Number(k), name.slice(0, 80));
}
function setName(k, name) {
  const text = name.trim().slice(0, 80);
  if (text && text !== store.topics.names[k]) ownNames.set(k, text);
  else ownNames.delete(k);
  keep(namesKey(), Object.fromEntries(ownNames));
}
const namesFile = () =>
  JSON.stringify(
    { format: "tagtopics topic names", topics: Object.fromEntries(store.topics.names.map((_, k) => [k, topicName(k)])) },
    null,
    1,
  );

function nameEditor(k) {
  const input = h("input", { id: "own-name", type: "text", maxlength: 80, value: topicName(k), dir: "auto" });
  const submit = (event) => {
    event.preventDefault();
    setName(k, input.value);
    route();
    say(`Renamed to ${topicName(k)}`);
  };
  return h("details", { class: "share rename" },
    h("summary", {}, "Rename"),
    h("form", { class: "sharing", on: { submit } },
      h("label", { for: "own-name" }, "Name of this topic"),
      input,
      h("button", { type: "submit" }, "Save"),
      button("Export all names", () => download("topic-names.json", "application/json", namesFile())),
      remark("Kept in this browser. For a report with these names: tagtopics report --names topic-names.json"),
    ),
  );
}
