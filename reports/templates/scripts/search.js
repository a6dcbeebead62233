// The search: entries and library are loaded, and the index is made, when a reader first types.
"use strict";
const search = document.querySelector("form.find");
const found = Object.assign(document.createElement("div"), { className: "found", hidden: true });
found.innerHTML = '<p role="status" aria-live="polite"></p><ul></ul>';
search.append(found);
search.hidden = false;
let ready = null;
// A name such as solve_batch is one word, and so are its parts.
const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).flatMap(
  (word) => word.includes("_") ? [word, ...word.split("_")] : [word]).filter(Boolean);
// Text on a subject stands before a single formula.
const WEIGHT = { documentation: 1.5, API: 1.6, notebook: 1.5, study: 1.5, activation: 1.5, result: 1.5, claim: 1, figure: .9,
  derivation: .8, symbol: .7, "formula as printed": .6, changes: .1 };
function prepared() {
  return ready ??= new Promise((done) => load("minisearch.js", () => load("entries.js", () => {
    const index = new MiniSearch({
      fields: ["title", "words"], tokenize: words,
      searchOptions: {
        boost: { title: 8 }, prefix: (word) => word.length > 2, fuzzy: (word) => word.length > 4 ? .2 : 0,
        combineWith: "AND", weights: { fuzzy: .2, prefix: .4 },
        boostDocument: (id) => WEIGHT[ENTRIES[id][1]],
      },
    });
    index.addAll(ENTRIES.map(([title, , , more], id) => ({ id, title, words: more })));
    done(index);
  })));
}
async function look() {
  const asked = search.q.value.trim(), index = asked && await prepared();
  if (asked !== search.q.value.trim()) return;
  let hits = asked ? index.search(asked) : [];
  if (asked && !hits.length) hits = index.search(asked, { combineWith: "OR" });
  // A title that is what was asked for stands first.
  const exact = ({ id }) => ENTRIES[id][1] !== "symbol" && ENTRIES[id][0].toLowerCase() === asked.toLowerCase();
  hits.sort((a, b) => exact(b) - exact(a) || b.score - a.score);
  found.hidden = !asked;
  found.querySelector("p").textContent = hits.length > 20 ? `20 of ${hits.length} results` : `${hits.length} result${hits.length === 1 ? "" : "s"}`;
  found.querySelector("ul").replaceChildren(...hits.slice(0, 20).map(({ id }) => {
    const [title, kind, address] = ENTRIES[id], item = document.createElement("li");
    item.append(
      Object.assign(document.createElement("a"), { href: HOME + address, textContent: title }), " ",
      Object.assign(document.createElement("span"), { className: "note", textContent: kind }));
    return item;
  }));
}
search.q.addEventListener("focus", prepared);
search.addEventListener("input", look);
search.addEventListener("submit", async (event) => {
  event.preventDefault();
  await look();
  found.querySelector("a")?.click();
});
search.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") found.hidden = true;
  if (!step) return;
  const stops = [search.q, ...found.querySelectorAll("a")];
  stops[Math.min(Math.max(stops.indexOf(document.activeElement) + step, 0), stops.length - 1)].focus();
  event.preventDefault();
});
addEventListener("click", (event) => { if (!search.contains(event.target) || event.target.closest("a")) found.hidden = true; });
