"""Slips in what decides, compares and shows: verdicts, the drift check, derivations, figures and studies."""

from __future__ import annotations

from tests.planting.slip import Slip

_VERDICT, _EVIDENCE, _DRIFT = "verify/protocol/verdict.py", "verify/protocol/evidence.py", "verify/ledger/drift.py"
_VERDICTS = "tests/verify/protocol/test_verdict.py"
_ANY_THREE = f"{_VERDICTS}::test_any_three_pieces_in_any_order_earn_what_the_cautions_say"
_FOUR_OF_FIVE = f"{_VERDICTS}::test_an_agreement_at_fewer_than_four_points_of_five_is_open"
_ALLOWED = f"{_VERDICTS}::test_what_is_allowed_exactly_supports_and_no_more"

_DRIFTS = "tests/verify/ledger/test_drift.py"
_EVERY_KEY = f"{_DRIFTS}::test_every_key_altered_deleted_or_null_is_a_drift_both_ways"
_ROUNDING = f"{_DRIFTS}::test_only_measured_numbers_may_move_and_no_further_than_rounding"
_NAMED = f"{_DRIFTS}::test_a_new_a_lost_and_a_repeated_entry_is_named_as_what_it_is"
_BESIDE = (
    "tests/reports/page/test_ledger_files.py"
    "::test_the_drift_check_reads_the_markdown_beside_the_ledger_and_passes_on_what_failed"
)

_DESCRIBED = "reports/page/described.py"
_DESCRIBED_TEST = "tests/reports/page/test_described.py"
_EXPERIMENTS = "reports/measurements/experiments.py"
_FIGURES = "reports/figures/figures.py"
_FINITE_SAMPLES = "reports/studies/finite_samples.py"
_KNOWN_ANSWERS_TEST = "tests/reports/studies/test_known_answers.py"
_LEARNING_RATE = "reports/studies/networks/learning_rate.py"
_NORMAL_DEVIATES = "reports/measurements/normal_deviates.py"
_PLOTTED_DATA_TEST = "tests/reports/figures/test_plotted_data.py"
_THRESHOLD = "reports/studies/threshold.py"
_WIDTH = "reports/studies/width.py"

# fmt: off
VERDICTS = (
    # A derivation alone; beside an open piece; beside an agreement that is fit for no limit; beside another derivation.
    Slip(_VERDICT, "return Verdict.DERIVED if beside else None", "return Verdict.DERIVED", _ANY_THREE),
    Slip(_VERDICT, "beside = any(_earned(kind, e, False) is not None for e in supporting if not isinstance(e, Proof))",
         "beside = len(evidence) > 1", _ANY_THREE),
    Slip(_VERDICT, "beside = any(_earned(kind, e, False) is not None for e in supporting if not isinstance(e, Proof))",
         "beside = any(not isinstance(e, Proof) for e in supporting)", _ANY_THREE),
    Slip(_VERDICT, "beside = any(_earned(kind, e, False) is not None for e in supporting if not isinstance(e, Proof))",
         "beside = len(supporting) > 1", _ANY_THREE),
    Slip(_VERDICT, "beside = any(_earned(kind, e, False) is not None for e in supporting if not isinstance(e, Proof))",
         "beside = any(_earned(kind, e, False) is not None for e in supporting[1:] if not isinstance(e, Proof))",
         _ANY_THREE),
    # An open piece beside an agreement, beside a derivation with one, and beside what settles the claim.
    Slip(_VERDICT, "if strongest in (Verdict.DERIVED, Verdict.CONFIRMED) and", "if strongest is Verdict.DERIVED and",
         _ANY_THREE),
    Slip(_VERDICT, "if strongest in (Verdict.DERIVED, Verdict.CONFIRMED) and", "if strongest is Verdict.CONFIRMED and",
         _ANY_THREE),
    Slip(_VERDICT, "if strongest in (Verdict.DERIVED, Verdict.CONFIRMED) and",
         "if strongest in (Verdict.CERTIFIED, Verdict.DERIVED, Verdict.CONFIRMED) and", _ANY_THREE),
    Slip(_VERDICT, "len(supporting) < len(evidence)", "len(supporting) + 1 < len(evidence)", _ANY_THREE),
    Slip(_VERDICT, "case Proof(takes_limit=False) if asymptotic:",
         "case Proof(takes_limit=False, theorem=None) if asymptotic:", _ANY_THREE),
    Slip(_VERDICT, "return None if asymptotic else Verdict.CERTIFIED", "return Verdict.CERTIFIED", _ANY_THREE),
    Slip(_VERDICT, "case Agreement(finite_size=False) if asymptotic:",
         "case Agreement(finite_size=False) if kind is Kind.LIMIT:", _ANY_THREE),
    Slip(_VERDICT, "return Verdict.CONVENTION if kind is Kind.CONVENTION else Verdict.REFUTED",
         "return Verdict.REFUTED", f"{_VERDICTS}::test_one_refutation_outweighs_any_support"),
    Slip(_VERDICT, "return max(verdicts, key=_STRENGTH.__getitem__)", "return verdicts[-1]",
         f"{_VERDICTS}::test_every_verdict_is_weaker_than_those_before_it"),
    Slip(_EVIDENCE, "USABLE = 0.8", "USABLE = 0.6", _FOUR_OF_FIVE),
    Slip(_EVIDENCE, "USABLE = 0.8", "USABLE = 0.9", _FOUR_OF_FIVE),
    Slip(_EVIDENCE, 'if self.worst > self.tolerance and self.worst != float("inf"):',
         'if self.worst > self.tolerance and self.points >= self.asked:', _FOUR_OF_FIVE),
    Slip(_EVIDENCE, "self.points > 0 and self.width <= self.allowed_width", "self.points > 0", _ALLOWED),
    Slip(_EVIDENCE, "self.points > 0 and self.width <= self.allowed_width", "self.width <= self.allowed_width",
         f"{_VERDICTS}::test_undecided_evidence_is_inconclusive"),
    Slip(_EVIDENCE, "return Outcome.SUPPORTS if outcomes == {Outcome.SUPPORTS} else Outcome.UNDECIDED",
         "return Outcome.SUPPORTS if Outcome.SUPPORTS in outcomes else Outcome.UNDECIDED", _ANY_THREE),
)

LEDGER = (
    Slip(_DRIFT, "for key in dict.fromkeys([*old, *new])", "for key in old", _EVERY_KEY),
    Slip(_DRIFT, "old.get(key, _MISSING), new.get(key, _MISSING),", "old.get(key), new.get(key),", _EVERY_KEY),
    Slip(_DRIFT, 'if key not in ("claims", "leaves")),', 'if key == "provenance"),', _EVERY_KEY),
    Slip(_DRIFT, 'for leaf in ledger.get("leaves", ())),', "for leaf in ()),", _EVERY_KEY),
    Slip(_DRIFT, "len(old) == len(new):", "True:", _EVERY_KEY),
    Slip(_DRIFT, "if _text(old) == _text(new) else", "if old == new else", _ROUNDING),
    Slip(_DRIFT, 'if path.endswith((".z", ".smallest_detectable")) and', "if", _ROUNDING),
    Slip(_DRIFT, "Z_DRIFT = 0.05", "Z_DRIFT = 0.5", _ROUNDING),
    Slip(_DRIFT, "RELATIVE_DRIFT * max(abs(old), abs(new))", "RELATIVE_DRIFT", _ROUNDING),
    Slip(_DRIFT, 'name += " again"', "break", _NAMED),
    Slip(_DRIFT, "for name in new if name not in old]", "for name in () if name not in old]", _NAMED),
    Slip("reports/commands/report.py", "differences = [*drift(old, document_of(ledger)), *beside, *theorem_drift()]",
         "differences = drift(old, document_of(ledger))", _BESIDE),
    Slip("reports/commands/report.py", "return FAILED if differences else ledger.exit_code(old)",
         "return FAILED if differences else DONE", _BESIDE),
    Slip("reports/commands/report.py", "return FAILED if differences else ledger.exit_code(old)",
         "return ledger.exit_code(old)", _BESIDE),
)

# Obligations shown at another step.
SHOWN = (
    Slip(_DESCRIBED, "*_obligations(step.obligations)", "*_obligations(derivation.steps[-1].obligations)",
         f"{_DESCRIBED_TEST}::test_each_step_is_shown_with_its_own_obligations"),
    Slip(_DESCRIBED, "            for step in derivation.steps\n        ),",
         "            for step in reversed(derivation.steps)\n        ),",
         f"{_DESCRIBED_TEST}::test_each_step_is_shown_with_its_own_obligations"),
    Slip(_DESCRIBED, "(*_theorem(step), *_obl", "(*_theorem(derivation.steps[0]), *_obl",
         f"{_DESCRIBED_TEST}::test_each_step_is_shown_with_its_own_obligations"),
)

# What is plotted is not what was computed.
FIGURES = (
    Slip(_FIGURES, "beta=1.0, ridge=ridge, alpha0=alpha0, eta=eta,",
         "beta=1.0, ridge=ridge, alpha0=alpha0, eta=alpha0,",
         f"{_PLOTTED_DATA_TEST}::test_lines_are_the_theory_and_points_the_simulation"),
    Slip(_FIGURES, '[_Curve(f"$r = {r:g}$", _tanh_and_sine(r, alignment, ridge)) for r in spikes],',
         '[_Curve(f"$r = {r:g}$", _tanh_and_sine(r, alignment, ridge)) for r in spikes[::-1]],',
         f"{_PLOTTED_DATA_TEST}::test_lines_are_the_theory_and_points_the_simulation"),
    Slip(_FIGURES, "yerr=[p.standard_error for p in points]", "yerr=[2 * p.standard_error for p in points]",
         f"{_PLOTTED_DATA_TEST}::test_lines_are_the_theory_and_points_the_simulation"),
    Slip(_FIGURES, "axes.axhline(upper, color", "axes.axhline(lower, color",
         f"{_PLOTTED_DATA_TEST}::test_the_bounds_over_the_ridge_are_those_of_its_models"),
    Slip(_FIGURES, "[lower_bound(m) for m in models], color=STYLES[0][0], lw=1.8",
         "[lower_bound(m) / 2 for m in models], color=STYLES[0][0], lw=1.8",
         f"{_PLOTTED_DATA_TEST}::test_the_bounds_over_the_spike_hold_the_best_ridge_between_them"),
    Slip(_FIGURES, '(r"$\\kappa\\,\\mu_1$", kappa * mu1)', '(r"$\\kappa\\,\\mu_1$", mu1)',
         f"{_PLOTTED_DATA_TEST}::test_the_functions_along_the_spike_are_averages_over_the_bulk"),
)

# Numbers of the studies.
STUDIES = (
    Slip(_LEARNING_RATE, "Vertex(float(np.exp(x[1] - b / (2 * a))), float(c - b * b / (4 * a)))",
         "Vertex(float(np.exp(x[1] - b / a)), float(c - b * b / (4 * a)))",
         f"{_KNOWN_ANSWERS_TEST}::test_the_vertex_of_a_parabola_is_found_between_and_beside_the_points"),
    Slip(_LEARNING_RATE, "factor = np.sqrt((len(rest) - 1) / len(rest))", "factor = np.sqrt(1 / (len(rest) - 1))",
         f"{_KNOWN_ANSWERS_TEST}::test_the_best_rate_of_samples_has_the_standard_error_of_their_scatter"),
    Slip(_LEARNING_RATE, "spread = self.found_error.eta / self.found.eta", "spread = self.found_error.eta",
         f"{_KNOWN_ANSWERS_TEST}::test_the_best_rate_of_samples_has_the_standard_error_of_their_scatter"),
    Slip(_THRESHOLD, "np.log(RIDGES[-3:]), np.log(self.at_threshold[-3:])",
         "np.log(RIDGES), np.log(self.at_threshold)",
         f"{_KNOWN_ANSWERS_TEST}::test_exponents_are_those_of_the_last_three_and_of_each_side"),
    Slip(_THRESHOLD, "for errors in (self.below, self.above)", "for errors in (self.above, self.below)",
         f"{_KNOWN_ANSWERS_TEST}::test_exponents_are_those_of_the_last_three_and_of_each_side"),
    Slip(_FINITE_SAMPLES, "return self.measured.spread / self.theory", "return self.measured.error / self.theory",
         f"{_KNOWN_ANSWERS_TEST}::test_a_measurement_is_a_mean_with_the_error_of_a_mean_and_the_spread_of_one"),
    Slip(_WIDTH, "if wide > narrow * (1.0 + VISIBLE)]", "if wide > narrow + VISIBLE * 2]",
         f"{_KNOWN_ANSWERS_TEST}::test_a_rise_is_one_where_a_wider_network_errs_more"),
    Slip(_EXPERIMENTS, "return (self.mean - theory) / self.error", "return (theory - self.mean) / self.error",
         f"{_KNOWN_ANSWERS_TEST}::test_a_measurement_is_a_mean_with_the_error_of_a_mean_and_the_spread_of_one"),
    Slip(_EXPERIMENTS, "float(np.std(samples, ddof=1))", "float(np.std(samples))",
         f"{_KNOWN_ANSWERS_TEST}::test_a_measurement_is_a_mean_with_the_error_of_a_mean_and_the_spread_of_one"),
    Slip(_NORMAL_DEVIATES, "2.0 * min(chdtr(count, total), chdtrc(count, total))", "2.0 * chdtrc(count, total)",
         f"{_KNOWN_ANSWERS_TEST}::test_deviates_are_judged_by_law_spread_and_largest"),
    Slip(_NORMAL_DEVIATES, "** len(size))", "** 1)",
         f"{_KNOWN_ANSWERS_TEST}::test_deviates_are_judged_by_law_spread_and_largest"),
)
# fmt: on

OF_CLAIMS: tuple[Slip, ...] = (*VERDICTS, *LEDGER, *SHOWN, *FIGURES, *STUDIES)
