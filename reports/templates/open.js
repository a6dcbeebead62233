// A link opens what it leads to: the details around its target and those of the target itself. An address that names
// something on another page leads there.
"use strict";
function reveal() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name) return;
  const target = document.getElementById(name);
  if (!target) return elsewhere(name);
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  for (const one of target.children) if (one.tagName === "DETAILS" && one.className === "evidence") one.open = true;
  target.scrollIntoView();
}
function elsewhere(name) {
  const places = document.createElement("script");
  places.src = "places.js";
  places.onload = () => {
    const page = Object.keys(PLACES).find((one) => PLACES[one].includes(name));
    if (page) location.replace(page + "#" + name);
  };
  document.head.append(places);
}
addEventListener("hashchange", reveal);
reveal();
