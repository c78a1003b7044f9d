// Share the view as it stands: its address, and code to embed it.
import { byId, h, link, remark, say, settings } from "./dom.js";
import { store } from "./data.js";
import { embedCode, headline, plainHash, stateOf } from "./address.js";

async function copyText(text, field) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    document.execCommand("copy"); // where a page may not use the clipboard itself
  }
  say("Copied");
}

function copyField(id, name, text) {
  const field = h("input", { id, type: "text", readonly: true, value: text });
  const button = h("button", { type: "button", on: { click: () => copyText(field.value, field).then(() => done()) } }, "Copy");
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  return h("div", { class: "copied" }, h("label", { for: id }, name), field, button);
}

// The menu in the bar. It is drawn each time that it opens, for the view of that moment.
export function viewMenu() {
  const menu = byId("view");
  const box = byId("view-box");
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    box.replaceChildren(
      copyField("view-address", "Address of this view", location.href.split("#")[0] + plainHash()),
      settings.live ? "" : remark("It opens this view of the same file: send the file along, or put it on a web server."),
      copyField("view-embed", "Code to embed it", embedCode()),
    );
  });
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    byId("view-button").focus();
  });
}

// Embedded views have no bar and no footer; `card` leaves one card. Links open the explorer in a tab of its own.
export function embedded(main) {
  const state = stateOf();
  const on = state.has("embed");
  document.documentElement.classList.toggle("embedded", on);
  if (!on) return;
  const wanted = state.get("card");
  const cards = wanted ? [...main.querySelectorAll(".card, .terrain")].filter((one) => titleOfCard(one) === wanted) : [];
  if (cards.length) main.replaceChildren(h("h1", { class: "hidden" }, headline()), cards[0]);
  main.append(
    h("p", { class: "origin" },
      link(plainHash(), { target: "_blank", rel: "noopener" }, `${store.title}: open in the explorer`),
    ),
  );
}
const titleOfCard = (section) => {
  const title = section.querySelector("h2");
  return title ? title.textContent : section.getAttribute("aria-label") || "";
};
export function outOfFrame(event) {
  const target = event.target.closest && event.target.closest("a[href^='#']");
  if (!target || !document.documentElement.classList.contains("embedded")) return;
  target.setAttribute("target", "_blank");
  target.setAttribute("rel", "noopener");
}
