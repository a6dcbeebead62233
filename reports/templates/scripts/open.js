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
// What is wider than its place is scrolled by the keyboard too.
function reachable() {
  for (const one of document.querySelectorAll(".scroll, .formula, dd, pre"))
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0; else one.removeAttribute("tabindex");
}
addEventListener("hashchange", reveal);
addEventListener("toggle", reachable, true);
addEventListener("resize", reachable);
reveal();
reachable();
