// Interface texts. T`${n} documents` is looked up in the catalogue of the language as "{} documents".
// A translation may number its gaps to change their order: "{1} {0}". What follows an at sign says which of
// two meanings is meant: "Share@part" is shown as "Share".
const settings = JSON.parse(document.getElementById("settings").textContent);
const language = settings.language || "en";
const GAP = /\{(\d*)\}/;

const textFor = (parts) => {
  const english = parts.join("{}");
  return (settings.texts && settings.texts[english]) || english.split("@")[0];
};
// The text as children of an element: what fills its gaps may be elements.
const rich = (parts, ...values) => {
  let at = 0;
  return textFor(parts)
    .split(GAP)
    .map((piece, i) => (i % 2 ? values[piece === "" ? at++ : Number(piece)] : piece));
};
const T = (parts, ...values) => rich(parts, ...values).join("");
