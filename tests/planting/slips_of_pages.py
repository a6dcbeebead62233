"""Slips in what a person reads: pages and their scripts, formulas and prose, figures, the page of an activation."""

from __future__ import annotations

from tests.planting.slip import Slip

_DEPENDENCIES, _LINES = "reports/page/graph/dependencies.py", "reports/text/formula_lines.py"
_TEMPLATES = "tests/reports/templates"
_OWN = f"{_TEMPLATES}/test_claim_pages.py::test_the_page_of_a_claim_is_its_own"
_LISTS, _DOCUMENT = f"{_TEMPLATES}/test_lists.py", f"{_TEMPLATES}/test_document.py"
_DERIVATIONS, _SCRIPTS = f"{_TEMPLATES}/test_derivations.py", f"{_TEMPLATES}/test_scripts.py"
_GRAPH = f"{_LISTS}::test_the_graph_has_each_part_with_its_weakest_link_and_each_line_with_its_count"
_STUDY = f"{_LISTS}::test_a_study_shows_its_words_tables_and_command_and_is_listed"
_LISTED = f"{_LISTS}::test_an_activation_is_listed_and_sorted_by_its_own_numbers"
_SIGNS = "tests/reports/page/test_mathematics.py::test_every_statement_of_the_ledger_becomes_mathml_sign_by_sign"
_CUT = "tests/reports/text/test_formula_lines.py::test_a_long_formula_is_cut_into_lines_and_keeps_every_letter"
_WORDS = (
    "tests/reports/studies/paper/test_plotted_data.py"
    "::test_titles_and_labels_say_what_is_plotted_and_the_legend_which_curve_is_which"
)

# fmt: off
PAGES = (
    Slip("reports/page/site.py", "zip(members, [None, *members], [*members[1:], None], strict=False):",
         "zip(members, [*members[1:], None], [None, *members], strict=False):",
         f"{_TEMPLATES}/test_claim_pages.py::test_a_claim_leads_to_those_before_and_behind_it_in_its_chapter"),
    Slip("reports/templates/macros.html", "{{ badge(entry.verdict.value) }}{% if entry.claim.role",
         "{{ badge(entry.weakest.value) }}{% if entry.claim.role", _OWN),
    Slip("reports/templates/claims/claim_page.html", "<dd>{{ some(around.used_by, 40) }}</dd>",
         "<dd>{{ some(claim.entry.claim.uses, 40) }}</dd>", _OWN),
    Slip("reports/page/misprints.py", 'corrected_verdict=row["corrected_verdict"],\n        witness',
         'corrected_verdict=row["printed_verdict"],\n        witness',
         f"{_LISTS}::test_misprints_and_conventions_stand_apart_with_both_sides"),
    Slip(_DEPENDENCIES, "        entries[0].claim.id,\n", "        entries[-1].claim.id,\n", _GRAPH),
    Slip(_DEPENDENCIES, "children, repeated and bool(entry.claim.uses))", "children, repeated)",
         f"{_LISTS}::test_each_tree_goes_down_to_the_ground_and_says_where_it_is_expanded_already"),
    Slip("reports/page/graph/drawing.py", "    x += middle\n", "    x -= middle\n", _GRAPH),
    Slip("reports/templates/study.html", "data/{{ figure.name }}.csv", "data/{{ figure.name | anchor }}.csv",
         f"{_LISTS}::test_the_first_page_has_one_figure_and_all_have_their_points"),
    Slip("reports/templates/study.html", "table.rows | length > 14 %}", "table.rows | length >= 14 %}", _STUDY),
    Slip("reports/templates/pages/studies.html", "study.text[0]", "study.text[-1]", _STUDY),
    Slip("reports/templates/pages/symbols.html", "<th>meaning</th><th>scaling in d</th>",
         "<th>scaling in d</th><th>meaning</th>",
         f"{_LISTS}::test_what_is_assumed_and_the_symbols_are_listed_with_their_numbers"),
    Slip("reports/templates/claims/derivation.html", "{{ step.elsewhere_title | prose }}",
         "{{ derivation.described.title | prose }}", f"{_DERIVATIONS}::test_a_step_that_was_shown_is_named_by_where"),
    Slip("reports/templates/claims/derivations.html", "{{ derivation.described.title | heading }}",
         "{{ derivation.described.source | heading }}",
         f"{_DERIVATIONS}::test_derivations_are_listed_by_chapter_and_lead_to_their_claims_and_back"),
    Slip("reports/templates/pages/chapter.html", "{{ after[1] | heading }}", "{{ title | heading }}",
         f"{_DERIVATIONS}::test_a_chapter_that_goes_on_says_where_and_under_which_title"),
    Slip("reports/templates/report.typ", "<<row.corrected | formula>>", "<<row.printed | formula>>",
         f"{_DOCUMENT}::test_results_and_misprints_stand_with_their_own_formulas_and_verdicts"),
    Slip("reports/text/ledger_markdown.py", "]({_name(used, chapters)}#", "]({_name(claim['id'], chapters)}#",
         f"{_TEMPLATES}/test_grounds.py::test_the_ledger_as_markdown_says_of_each_claim_what_its_page_says"),
    Slip("reports/templates/style.css", "--proved: #6fcf97;", "--proved: #0f6b3c;",
         f"{_TEMPLATES}/test_colours.py::test_text_stands_out_from_its_ground"),
    Slip("reports/templates/scripts/find.js", "!wanted.has(claim.verdict) ||", "wanted.has(claim.verdict) ||",
         f"{_SCRIPTS}::test_the_search_shows_what_has_all_words_and_a_verdict_that_is_wanted"),
    Slip("reports/templates/scripts/sort.js", 'if (x === "" || y === "")', 'if (x === "" && y === "")',
         f"{_SCRIPTS}::test_a_table_is_sorted_by_numbers_as_numbers_and_empty_cells_stay_at_the_end"),
)

FORMULAS = (
    Slip("reports/text/mathematics.py", 'if element.tag == "mrow" and len(element) == 1 and not',
         'if element.tag == "mrow" and 1 <= len(element) <= 2 and not', _SIGNS),
    Slip(_LINES, 'filled.append([] if piece[0].tag == "mo" else [_sign("×")])',
         "filled.append([])", _CUT),
    Slip(_LINES, "_pieces(items, _CONNECTIVES, after=True)", "_pieces(items, _CONNECTIVES)", _CUT),
    Slip("reports/text/prose.py", '"αβγΔεζηθΘκλμξρϱστφψωΠΦ"', '"αβγΔεζηθΘλκμξρϱστφψωΠΦ"',
         "tests/reports/page/test_mathematics.py::test_a_greek_name_is_its_letter"),
)

DRAWINGS = (
    Slip("reports/studies/paper/curves.py",
         "labels = [curve.label for curve in curves] + [str(line.get_label()) for line in lines]",
         "labels = [str(line.get_label()) for line in lines] + [curve.label for curve in curves]", _WORDS),
    Slip("reports/studies/paper/spikes.py", "zip((False, True), panels, titles, strict=True)",
         "zip((False, True), panels, titles[::-1], strict=True)", _WORDS),
    Slip("reports/studies/paper/settings.py", "return constants.h2 - constants.h1**2", "return constants.h2",
         "tests/reports/studies/paper/test_plotted_data.py::test_the_dashed_line_is_the_best_linear_predictor"),
    Slip("reports/figures/figures.py", r'xlabel=r"samples per dimension $\alpha = n/d$"',
         r'xlabel=r"samples per width $\alpha = n/p$"',
         "tests/reports/figures/test_plotted_data.py::test_lines_are_the_theory_and_points_the_simulation"),
    Slip("reports/figures/drawn.py", "        figures.learning_curves_by_batch,\n", "",
         "tests/reports/figures/test_figures.py::test_the_report_draws_every_figure_of_the_module"),
    Slip("reports/figures/results.py", 'xlabel=r"projection on the spike $\\kappa$", ylabel="value")\n    axes.legend',
         'xlabel=r"projection on the target $\\kappa$", ylabel="value")\n    axes.legend',
         "tests/giantsteps/test_notebook.py::test_each_result_is_drawn_with_a_title_and_named_coordinates"),
)

ACTIVATIONS = (
    Slip("reports/templates/activation/gallery.html", 'data-value="{{ card.number(key) }}"',
         'data-value="{{ card.number("h1") }}"', _LISTED),
    Slip("reports/activation/latex.py", r"\mathbb{E}[(\sigma'(z) - h_1)^2]", r"\mathbb{E}[\sigma'(z)^2]",
         "tests/reports/activation/test_gallery.py::test_the_formulas_say_what_their_numbers_are"),
    Slip("reports/activation/gallery.py", 'share(bounds["lower"]), share(bounds["upper"])',
         'share(bounds["upper"]), share(bounds["lower"])',
         "tests/reports/activation/test_gallery.py::test_the_pages_show_the_cards"),
)

# Of results, fits and pairs: compared or left out by another rule than the words have.
SAID = (
    Slip("reports/page/views.py", "{step.formula for step in derivation.steps if step not in shown}",
         "{step.formula for step in derivation.steps}",
         f"{_DERIVATIONS}::test_every_result_is_a_step_of_its_derivation_or_stands_below"),
    Slip("reports/figures/results.py", "axes.plot(places, beneath + line[0]", "axes.plot(places, limit + line[0]",
         "tests/giantsteps/test_notebook.py::test_a_comparison_stands_over_one_over_d_with_its_fit_above_the_theory"),
    Slip("reports/studies/networks/practitioner.py",
         "max(hurt, key=lambda case: case.curve[-1] / case.plain)", "max(hurt, key=lambda case: case.curve[-1])",
         "tests/reports/studies/networks/test_practitioner.py::test_pairs_are_compared_by_what_the_sentence_says"),
)
# fmt: on

OF_PAGES: tuple[Slip, ...] = (*PAGES, *FORMULAS, *DRAWINGS, *ACTIVATIONS, *SAID)
