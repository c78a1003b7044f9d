// Interface texts. T`${n} documents` is looked up in the catalogue as "{} documents".
let translation = null; // English to the chosen language; null for English
const T = (parts, ...values) => {
  const english = parts.join("{}");
  const found = (translation && translation[english]) || english;
  let at = 0;
  return found.replace(/\{\}/g, () => String(values[at++]));
};
