// The audit: findings to accept or refuse, exported as the file of changes that `tagtopics apply` reads.
import { bdi, button, clamped, h, keep, kept, link, plural, remark, rich, say, settings, whole } from "./dom.js";
import { block, body, isNumber, placeOf, store, titleOf } from "./data.js";
import { documentHref, keepState, stateOf } from "./address.js";
import { filledInView, growing, tagChip } from "./widgets.js";
import { csvOf, download } from "./pictures.js";

export const audit = { findings: null, answers: new Map(), kind: "", open: false };
const AUDIT_KINDS = {
  doubtful: ["Doubtful tags", "The document has the tag, but little else suggests it."],
  missing: ["Missing tags", "The document lacks a tag that similar documents have."],
  duplicate: ["Duplicate tags", "Two tags seem to mean the same."],
  implied: ["Tags that another tag implies", "A high score: the next document with the other tag is likely to have this one."],
  single: ["Tags on a single document", "A high score: the document has many other tags."],
};
const AUDIT_VERBS = { remove: "Remove", add: "Add", merge: "Merge", drop: "Drop" };

const auditKey = () => `tagtopics-audit ${settings.audit}`;
function readAnswers() {
  for (const [i, answer] of Object.entries(kept(auditKey())))
    if (isNumber(i) && Number(i) < audit.findings.length && ["yes", "no"].includes(answer)) audit.answers.set(Number(i), answer);
}
const keepAnswers = () => keep(auditKey(), Object.fromEntries(audit.answers));

export async function loadAudit() {
  if (audit.findings) return;
  audit.findings = await block("audit");
  readAnswers();
}

export function auditPage() {
  const body = h("div", {}, h("p", { class: "wait" }, "Loading …"));
  loadAudit()
    .then(() => drawAudit(body))
    .catch((error) => body.replaceChildren(h("p", { class: "wrong" }, `The findings cannot be shown: ${error.message}`)));
  return [
    h("h1", {}, "Audit of tags"),
    h("p", { class: "lead" },
      rich`Accept or refuse what the audit proposes, then download the changes and apply them with ${h("code", {}, "tagtopics apply")}. Scores order the findings; they are no probabilities. This browser keeps your answers.`,
    ),
    body,
  ];
}

function drawAudit(body) {
  const kinds = Object.keys(AUDIT_KINDS).filter((kind) => audit.findings.some((found) => found.kind === kind));
  if (!kinds.length) return body.replaceChildren(h("p", {}, "The audit found nothing."));
  const asked = stateOf().get("kind");
  audit.kind = kinds.includes(asked) ? asked : kinds[0];
  const counts = h("p", { class: "audit-counts", role: "status" });
  const list = h("section", { class: "card" });
  const redraw = () => {
    const listed = listedFindings();
    list.replaceChildren(...(listed.length ? growing(listed, (i) => findingRow(i, counts), 50, "ol", "audit-findings") : [h("p", {}, "No finding is left here.")]));
    countAnswers(counts);
  };
  body.replaceChildren(auditControls(kinds, redraw), counts, list);
  redraw();
}

function auditControls(kinds, redraw) {
  const number = (kind) => audit.findings.filter((found) => found.kind === kind).length;
  const select = h("select", { id: "audit-kind" },
    kinds.map((kind) =>
      h("option", { value: kind, selected: kind === audit.kind }, `${AUDIT_KINDS[kind][0]} (${whole(number(kind))})`),
    ),
  );
  select.addEventListener("change", () => {
    audit.kind = select.value;
    keepState("kind", select.value, kinds[0]);
    redraw();
  });
  const open = h("input", { id: "audit-open", type: "checkbox", checked: audit.open });
  open.addEventListener("change", () => {
    audit.open = open.checked;
    redraw();
  });
  const least = h("input", { id: "audit-least", type: "number", min: 0, max: 1, step: 0.05, value: 0.8 });
  const acceptAll = () => {
    const chosen = listedFindings().filter((i) => !audit.answers.has(i) && audit.findings[i].score >= Number(least.value));
    chosen.forEach((i) => audit.answers.set(i, "yes"));
    keepAnswers();
    redraw();
    say(`${plural(chosen.length, "finding")} accepted`);
  };
  return h("div", { class: "audit-controls" },
    h("label", { for: "audit-kind" }, "Show"),
    select,
    h("label", { for: "audit-open" }, open, " ", "only without an answer"),
    h("label", { for: "audit-least" }, "Accept these from score"),
    least,
    button("Accept", acceptAll, { id: "audit-accept-all" }),
    button("Download changes (CSV)", () => download("changes.csv", "text/csv", changesFile()), { id: "audit-export" }),
  );
}

const listedFindings = () =>
  [...audit.findings.keys()].filter((i) => audit.findings[i].kind === audit.kind && !(audit.open && audit.answers.has(i)));

function countAnswers(counts) {
  const answers = [...audit.answers.values()];
  const accepted = answers.filter((answer) => answer === "yes").length;
  const note = AUDIT_KINDS[audit.kind][1];
  counts.textContent = `${note} ${whole(accepted)} accepted, ${whole(answers.length - accepted)} refused, of ${plural(audit.findings.length, "finding")} of all kinds.`;
}

const namedTag = (name) => {
  const t = placeOf("tag", store.tags.names).get(name);
  return t === undefined ? h("bdi", { class: "chip" }, name) : tagChip(t);
};
const documentOf = (found) => placeOf("row", store.documents.rows).get(found.row);
function namedDocument(found) {
  const d = documentOf(found);
  return d === undefined ? bdi(found.document) : link(documentHref(d), {}, bdi(titleOf(d)));
}
// The beginning of the text that a finding is about, filled in when it is in view.
const MOST_SEEN = 300; // characters
function seenText(found) {
  const d = documentOf(found);
  if (d === undefined || store.pictures) return null;
  const node = h("p", { class: "snippet", dir: "auto" });
  const fill = () => body(d).then((one) => (node.textContent = one && one.t ? clamped(one.t, MOST_SEEN) : ""));
  return filledInView(node, { fill });
}

function findingRow(i, counts) {
  const found = audit.findings[i];
  const text = {
    remove: () => rich`Remove ${namedTag(found.tag)} from ${namedDocument(found)}`,
    add: () => rich`Add ${namedTag(found.tag)} to ${namedDocument(found)}${found.other ? rich`, which has ${namedTag(found.other)}` : ""}`,
    merge: () => rich`Merge ${namedTag(found.other)} into ${namedTag(found.tag)}`,
    drop: () => rich`Drop ${namedTag(found.tag)} from all documents`,
  }[found.change]();
  const words = (found.words || []).join(" ");
  const isPressed = (answer) => String(audit.answers.get(i) === answer);
  const choose = (answer, label) => {
    const click = () => {
      if (audit.answers.get(i) === answer) audit.answers.delete(i);
      else audit.answers.set(i, answer);
      row.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", isPressed(other.dataset.answer)));
      keepAnswers();
      countAnswers(counts);
    };
    const name = `${label}: ${AUDIT_VERBS[found.change]} ${found.tag}`;
    return button(label, click, { "data-answer": answer, "aria-pressed": isPressed(answer), "aria-label": name });
  };
  const row = h("li", {},
    h("div", { class: "audit-what" },
      h("div", {}, text),
      words ? remark(found.kind === "doubtful" ? "Words of this tag that the text lacks: " : "Words that speak for it: ", bdi(words)) : null,
      seenText(found),
    ),
    h("span", { class: "figure" }, found.score.toFixed(2)),
    h("span", { class: "audit-answers" }, choose("yes", "Accept"), choose("no", "Refuse")),
  );
  return row;
}

// As `tagtopics audit --changes` writes it; `tagtopics apply` removes the apostrophes again.
const changesFile = () =>
  csvOf({
    rows: audit.findings.map((found, i) => ({ ...found, accept: audit.answers.get(i) })),
    columns: {
      accept: (found) => found.accept, change: (found) => found.change, document: (found) => found.document, row: (found) => found.row,
      tag: (found) => found.tag, other: (found) => found.other, kind: (found) => found.kind, score: (found) => found.score.toFixed(4),
      words: (found) => (found.words || []).join(" "),
    },
  });
