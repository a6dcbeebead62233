"use strict";
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
