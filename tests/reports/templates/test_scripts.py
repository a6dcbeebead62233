"""The little scripts of the pages, run by Node on pages that are a handful of objects: what they hide, sort, open."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from giantsteps.reports.page.claims import folded
from giantsteps.reports.page.site import TEMPLATES

# Elements that know no more than the scripts ask of them.
DOM = """
const vm = require("node:vm"), fs = require("node:fs");
const element = (more = {}) => Object.assign({dataset: {}, hidden: false, textContent: "", listeners: {}, style: {},
  children: [], attributes: {}, parentElement: null, shown: 0,
  addEventListener(name, what) { this.listeners[name] = what; }, setAttribute(k, v) { this.attributes[k] = v; },
  getAttribute(k) { return this.attributes[k] ?? null; }, removeAttribute(k) { delete this.attributes[k]; },
  append(...all) { this.children.push(...all); }, before() {}, scrollIntoView() { this.shown += 1; },
  getBoundingClientRect() { return {left: 10, bottom: 20}; },
  closest(tag) { let one = this; while (one && one.tagName !== tag) one = one.parentElement; return one; }}, more);
const run = (file, page, loaded = {}) => {
  const told = {listeners: {}, went: []};
  const all = {currentScript: {src: "file:///report/open.js"}, body: element(), head: {append(script) {
    const name = script.src.replace("file:///report/", "");
    vm.runInContext(loaded[name], context); script.onload(); }},
    createElement: () => element(), querySelectorAll: (what) => page.all?.[what] ?? [],
    querySelector: (what) => page.one?.[what] ?? null, getElementById: (id) => page.ids?.[id] ?? null};
  const context = vm.createContext({document: all, location: {search: page.search ?? "", hash: page.hash ?? "",
    replace: (to) => told.went.push(to)}, innerWidth: 900, scrollX: 0, scrollY: 0, URLSearchParams, navigator: {},
    addEventListener: (name, what) => { told.listeners[name] = what; }});
  vm.runInContext(fs.readFileSync(SCRIPTS + "open.js", "utf8"), context);
  if (file !== "open.js") vm.runInContext(fs.readFileSync(SCRIPTS + file, "utf8"), context);
  return {told, body: all.body, ask: (code) => vm.runInContext(code, context)};
};
"""


def node(code: str, **given: Any) -> Any:
    """What a program prints as JSON; names given are constants of it."""
    program = shutil.which("node") or pytest.skip("no Node: the browser's tests look at the same scripts")
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in given.items())
    source = f"const SCRIPTS = {json.dumps(str(TEMPLATES / 'scripts') + '/')};\n{constants}{DOM}{code}"
    done = subprocess.run([program, "-"], input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CLAIMS = [
    {"id": f"c.{k}", "verdict": verdict, "words": words}
    for k, (verdict, words) in enumerate(
        [("PROVED", "spike strength r alpha0"), ("PROVED", "spike zeta1"), ("CONFIRMED", "spike strength"),
         ("REFUTED", "ridge strength")]
    )
]  # fmt: skip
FIND = """
const heads = [element(), element(), element()], lists = heads.map((head) => element({previousElementSibling: head}));
const items = CLAIMS.map((claim) => element({dataset: {claim: claim.id}}));
const names = LIBRARY.map((words) => element({dataset: {words}}));
lists[0].children = items.slice(0, 2); lists[1].children = items.slice(2); lists[2].children = names;
const status = element();
const form = element({hidden: true, q: {value: ""}, querySelector: () => status, elements: {verdict:
  ["PROVED", "CONFIRMED", "REFUTED"].map((value) => ({value, checked: true}))}});
const page = {search: "?q=" + encodeURIComponent(FIRST), one: {"form.search": form}, all: {"form[role=search]": [form],
  "li[data-claim]": items, "li[data-words]": names, "ul.claims": lists}};
run("find.js", page, {"search.js": "const CLAIMS = " + JSON.stringify(CLAIMS)});
const seen = () => ({claims: items.filter((one) => !one.hidden).map((one) => one.dataset.claim),
  names: names.filter((one) => !one.hidden).map((one) => one.dataset.words), lists: lists.map((one) => !one.hidden),
  heads: heads.map((one) => !one.hidden), status: status.textContent, form: form.hidden});
const found = [seen()];
for (const [words, wanted] of ASKED) {
  form.q.value = words;
  for (const one of form.elements.verdict) one.checked = wanted.includes(one.value);
  form.listeners.input();
  found.push(seen());
}
console.log(JSON.stringify(found));
"""


def test_the_search_shows_what_has_all_words_and_a_verdict_that_is_wanted() -> None:
    every, library = ["PROVED", "CONFIRMED", "REFUTED"], ["solve a model", "spike plot"]
    asked = [
        ("", every), ("spike", every), ("Strength  SPIKE", every), (r"\alpha_{0}", every), ("spike", ["PROVED"]),
        ("", ["REFUTED", "CONFIRMED"]), ("nothing has it", every), ("", []),
    ]  # fmt: skip
    first = "ridge"
    found = node(FIND, CLAIMS=CLAIMS, LIBRARY=library, FIRST=first, ASKED=asked)
    for (words, wanted), seen in zip([(first, every), *asked], found, strict=True):
        parts = folded(words).split()
        claims = [
            one["id"] for one in CLAIMS if one["verdict"] in wanted and all(part in one["words"] for part in parts)
        ]
        names = [one for one in library if all(part in one for part in parts)]
        lists = [bool({"c.0", "c.1"} & set(claims)), bool({"c.2", "c.3"} & set(claims)), bool(names)]
        assert seen == {
            "claims": claims, "names": names, "lists": lists, "heads": lists,
            "status": f"{len(claims)} of {len(CLAIMS)} claims", "form": False,
        }  # fmt: skip


def test_the_search_reads_what_is_typed_as_the_index_was_made() -> None:
    texts = [
        r"\alpha_0", r"\left(\operatorname{Var}_{x}\right)", r"\mathrm{He}_{2}^{k}$", " Spike  ", r"\hat{\zeta}_1",
    ]  # fmt: skip
    got = node('const {ask} = run("find.js", {}); console.log(JSON.stringify(TEXTS.map(ask("folded"))));', TEXTS=texts)
    assert [" ".join(text.split()) for text in got] == [folded(text) for text in texts]


CARDS = """
const math = element({tagName: "math"});
const part = (outerHTML, parentElement) => element({outerHTML, parentElement, tagName: "mi"});
const script = part("<msub>a1</msub>", math), inner = part("<mi>a</mi>", script), other = part("<mi>b</mi>", math);
const own = element({innerHTML: "<mi>b</mi>"});
const term = element({querySelector: () => own, nextElementSibling: {textContent: " its own meaning "}});
const {told, body} = run("find.js", {all: {"dl.symbols dt": [term]}}, {"symbols.js":
  'const SYMBOLS = {"<msub>a1</msub>": ["first", "second"], "<mi>b</mi>": ["elsewhere"]}'});
const card = body.children[0], said = [];
for (const target of [inner, other, part("<mi>c</mi>", math), element({tagName: "P"})]) {
  told.listeners.mouseover({target});
  said.push(card.hidden ? null : card.textContent);
}
told.listeners.click({target: inner});
told.listeners.keydown({key: "Escape"});
console.log(JSON.stringify([said, card.hidden]));
"""


def test_a_symbol_has_the_card_of_its_page_or_else_all_its_meanings() -> None:
    assert node(CARDS) == [["first; or second", "its own meaning", None, None], True]


SORT = """
const rows = TABLE.map((cells) => ({cells: cells.map(([textContent, value]) =>
  ({textContent, dataset: value === null ? {} : {value}}))}));
const heads = TABLE[0].map(() => element({childNodes: []}));
const body = {rows: [...rows], append(...all) { this.rows = all; }};
run("sort.js", {all: {"table.sortable": [{tHead: {rows: [{cells: heads}]}, tBodies: [body]}]}});
const found = CLICKS.map((column) => {
  heads[column].children[0].listeners.click();
  return [body.rows.map((row) => rows.indexOf(row)), heads.map((head) => head.getAttribute("aria-sort"))];
});
console.log(JSON.stringify(found));
"""


def test_a_table_is_sorted_by_numbers_as_numbers_and_empty_cells_stay_at_the_end() -> None:
    table = [
        [["tanh", None], ["9 %", "0.09"], ["1.0", "10"]],
        [["abs", None], ["no spike", ""], ["2.0", "9"]],
        [["sin", None], ["10 %", "0.1"], ["3.0", "-1e-3"]],
    ]
    up, down = "ascending", "descending"
    assert node(SORT, TABLE=table, CLICKS=[0, 0, 1, 1, 2, 2]) == [
        [[1, 2, 0], [up, None, None]], [[0, 2, 1], [down, None, None]],
        [[0, 2, 1], [None, up, None]], [[2, 0, 1], [None, down, None]],
        [[2, 1, 0], [None, None, up]], [[0, 1, 2], [None, None, down]],
    ]  # fmt: skip


OPEN = """
const outer = element({tagName: "DETAILS"}), between = element({tagName: "DIV", parentElement: outer});
const inner = element({tagName: "DETAILS", parentElement: between}), target = element({parentElement: inner});
const here = run("open.js", {hash: "#a%20b", ids: {"a b": target}});
const places = 'const PLACES = {"one.html": ["y"], "claim/x.html": ["claim-x"]}';
const away = run("open.js", {hash: "#claim-x"}, {"places.js": places});
const lost = run("open.js", {hash: "#nowhere"}, {"places.js": "const PLACES = {}"}), none = run("open.js", {});
console.log(JSON.stringify([outer.open, inner.open, target.shown, here.told.went, away.told.went, lost.told.went,
  none.told.went, Object.keys(here.told.listeners)]));
"""


def test_a_link_opens_what_it_leads_to_here_or_on_another_page() -> None:
    to = "file:///report/claim/x.html#claim-x"
    assert node(OPEN) == [True, True, 1, [], [to], [], [], ["hashchange"]]
