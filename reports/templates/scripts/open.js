// A link opens what it leads to: the details around its target. An address that names something on another page leads
// there.
"use strict";
const HOME = document.currentScript.src.replace(/open\.js.*$/, "");
function reveal() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name) return;
  const target = document.getElementById(name);
  if (!target) return elsewhere(name);
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  target.scrollIntoView();
}
function elsewhere(name) {
  load("places.js", () => {
    const page = Object.keys(PLACES).find((one) => PLACES[one].includes(name));
    if (page) location.replace(HOME + page + "#" + name);
  });
}
function load(file, then) {
  const script = document.createElement("script");
  script.src = HOME + file;
  script.onload = then;
  document.head.append(script);
}
// A table that is wider than its place becomes a list, each cell below its head; what stays wider is scrolled by the
// keyboard too.
const wide = (one) => one.scrollWidth > one.clientWidth;
function fit() {
  for (const table of document.querySelectorAll(".scroll > table")) {
    table.classList.remove("stacked");
    if (!table.tHead || !wide(table.parentElement)) continue;
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
    for (const body of table.tBodies) for (const row of body.rows)
      [...row.cells].forEach((cell, k) => { cell.dataset.head = heads[k] ?? ""; });
    table.classList.add("stacked");
  }
  for (const one of document.querySelectorAll(".scroll, .formula, .block, dd, pre"))
    if (wide(one)) one.tabIndex = 0; else one.removeAttribute("tabindex");
}
addEventListener("hashchange", reveal);
addEventListener("toggle", fit, true);
addEventListener("resize", fit);
reveal();
fit();
