// The search over claims, the cards of symbols, and TeX to the clipboard: what is there without a script too, but slower.
"use strict";
const folded = (text) => text.toLowerCase().replace(/\\(?:left|right|operatorname|mathrm)\b|[\\{}_$^]/g, "").trim();

for (const form of document.querySelectorAll("form[role=search]")) form.hidden = false;
const form = document.querySelector("form.search");
if (form) load("search.js", () => {
  const found = new Map(CLAIMS.map((claim) => [claim.id, claim]));
  const items = [...document.querySelectorAll("li[data-claim]")];
  form.q.value = new URLSearchParams(location.search).get("q") ?? "";
  const show = () => {
    const words = folded(form.q.value).split(/\s+/).filter(Boolean);
    const wanted = new Set([...form.elements.verdict].filter((one) => one.checked).map((one) => one.value));
    let count = 0;
    for (const item of items) {
      const claim = found.get(item.dataset.claim);
      item.hidden = !wanted.has(claim.verdict) || !words.every((word) => claim.words.includes(word));
      count += !item.hidden;
    }
    for (const item of document.querySelectorAll("li[data-words]"))
      item.hidden = !words.every((word) => item.dataset.words.includes(word));
    for (const list of document.querySelectorAll("ul.claims"))
      list.hidden = list.previousElementSibling.hidden = ![...list.children].some((item) => !item.hidden);
    form.querySelector("[role=status]").textContent = count + " of " + items.length + " claims";
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
});

// What a symbol means: the smallest part of a formula under the pointer that the table knows.
const card = Object.assign(document.createElement("div"), { className: "card", hidden: true });
card.setAttribute("role", "tooltip");
document.body.append(card);
let known = null;
const own = new Map([...document.querySelectorAll("dl.symbols dt")].map(
  (one) => [one.querySelector("math")?.innerHTML, [one.nextElementSibling.textContent.trim()]]));
function meaning(part) {
  for (let one = part; one && one.tagName !== "math"; one = one.parentElement) {
    const said = own.get(one.outerHTML) ?? known?.[one.outerHTML];
    if (said) return [one, said];
  }
  return null;
}
function explain(event) {
  const inside = event.target.closest?.("math");
  if (inside && !known) { known = {}; load("symbols.js", () => { known = SYMBOLS; explain(event); }); }
  const found = inside && meaning(event.target);
  card.hidden = !found;
  if (!found) return;
  card.textContent = found[1].join("; or ");
  const box = found[0].getBoundingClientRect(), bottom = inside.getBoundingClientRect().bottom;
  card.style.left = Math.max(8, Math.min(box.left, innerWidth - card.offsetWidth - 8)) + scrollX + "px";
  card.style.top = bottom + scrollY + 4 + "px";
}
addEventListener("mouseover", explain);
addEventListener("click", explain);
addEventListener("keydown", (event) => { if (event.key === "Escape") card.hidden = true; });

for (const tex of document.querySelectorAll("pre.tex")) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(tex.textContent.trim());
    button.textContent = "Copied";
  });
  tex.before(button);
}
