"""Slips of the pen in the source itself, each with the test that catches it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """``wrong`` in place of ``right``, which stands once in ``file``; the fast test ``caught_by`` then fails."""

    file: str
    right: str
    wrong: str
    caught_by: str

    @property
    def name(self) -> str:
        """Where it is and what it says."""
        return f"{self.file}: {' '.join(self.wrong.split())[:60]}"


_VERDICT, _EVIDENCE, _DRIFT = "verify/protocol/verdict.py", "verify/protocol/evidence.py", "verify/ledger/drift.py"
_VERDICTS = "tests/verify/protocol/test_verdict.py"
_ANY_THREE = f"{_VERDICTS}::test_any_three_pieces_in_any_order_earn_what_the_cautions_say"
_FOUR_OF_FIVE = f"{_VERDICTS}::test_an_agreement_at_fewer_than_four_points_of_five_is_open"
_ALLOWED = f"{_VERDICTS}::test_what_is_allowed_exactly_supports_and_no_more"

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
    Slip(_VERDICT, "case Proof(takes_limit=False) if asymptotic:", "case Proof(takes_limit=False, theorem=None) if asymptotic:",
         _ANY_THREE),
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

_DRIFTS = "tests/verify/ledger/test_drift.py"
_EVERY_KEY = f"{_DRIFTS}::test_every_key_altered_deleted_or_null_is_a_drift_both_ways"
_ROUNDING = f"{_DRIFTS}::test_only_measured_numbers_may_move_and_no_further_than_rounding"
_NAMED = f"{_DRIFTS}::test_a_new_a_lost_and_a_repeated_entry_is_named_as_what_it_is"
_BESIDE = ("tests/reports/page/test_ledger_files.py"
           "::test_the_drift_check_reads_the_markdown_beside_the_ledger_and_passes_on_what_failed")

LEDGER = (
    Slip(_DRIFT, "for key in dict.fromkeys([*old, *new])", "for key in old", _EVERY_KEY),
    Slip(_DRIFT, "old.get(key, _MISSING), new.get(key, _MISSING),", "old.get(key), new.get(key),", _EVERY_KEY),
    Slip(_DRIFT, 'if key not in ("claims", "leaves")),', 'if key == "provenance"),', _EVERY_KEY),
    Slip(_DRIFT, 'for leaf in ledger.get("leaves", ())),', "for leaf in ()),", _EVERY_KEY),
    Slip(_DRIFT, "len(old) == len(new):", "True:", _EVERY_KEY),
    Slip(_DRIFT, "type(old) is type(new) and old == new", "old == new", _ROUNDING),
    Slip(_DRIFT, 'if path.endswith((".z", ".smallest_detectable")) and', "if", _ROUNDING),
    Slip(_DRIFT, "Z_DRIFT = 0.05", "Z_DRIFT = 0.5", _ROUNDING),
    Slip(_DRIFT, "RELATIVE_DRIFT * max(abs(old), abs(new))", "RELATIVE_DRIFT", _ROUNDING),
    Slip(_DRIFT, 'name += " again"', "break", _NAMED),
    Slip(_DRIFT, "for name in new if name not in old]", "for name in () if name not in old]", _NAMED),
    Slip("reports/commands/report.py", "differences = [*drift(old, document_of(ledger)), *beside]",
         "differences = drift(old, document_of(ledger))", _BESIDE),
    Slip("reports/commands/report.py", "return FAILED if differences else (ledger.exit_code or DONE)",
         "return FAILED if differences else DONE", _BESIDE),
    Slip("reports/commands/report.py", "return FAILED if differences else (ledger.exit_code or DONE)",
         "return ledger.exit_code or DONE", _BESIDE),
)

_PARSER, _ALGEBRA = "derivations/expressions/parser.py", "derivations/expressions/algebra.py"
_EXACT = "tests/derivations/expressions/test_exact_evaluation.py"
_DRAWN = f"{_EXACT}::test_a_drawn_text_means_what_python_reads_in_it"
_BIND = f"{_EXACT}::test_signs_powers_and_exponents_bind_as_in_python"

LANGUAGE = (
    # From the fourth term on; a sign that is carried on; a quotient behind a product.
    Slip(_PARSER, "for op, right_node in reversed(spine):", "for op, right_node in [*reversed(spine[3:]), *spine[:3]]:",
         _BIND),
    Slip(_PARSER, "pending.append(right if isinstance(op, ast.Add) else negate(right))",
         "pending.append(right if isinstance(op, ast.Add) or len(pending) > 3 else negate(right))", _DRAWN),
    Slip(_PARSER, "if isinstance(op, ast.Mult) else divide(result, right)",
         "if isinstance(op, ast.Mult) else divide(right, result)", _BIND),
    Slip(_PARSER, "Fraction(int(whole + after or \"0\"), 10 ** len(after))", "Fraction(float(whole + \".\" + after))", _DRAWN),
    Slip(_PARSER, "* Fraction(10) ** shift)", "* Fraction(10.0**shift))", _DRAWN),
    Slip(_PARSER, "if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):",
         "if any(isinstance(arg, ast.Starred) for arg in node.args):",
         f"{_EXACT}::test_no_function_takes_a_keyword_or_a_list"),
    Slip(_PARSER, "for left, op, right in zip(sides, node.ops, sides[1:], strict=False)",
         "for right, op, left in zip(sides, node.ops, sides[1:], strict=False)", _DRAWN),
    Slip(_PARSER, 'ast.GtE: ">="}', 'ast.GtE: ">"}', _DRAWN),
    Slip(_ALGEBRA, "total = collected.get(rest, Fraction(0)) + coefficient", "total = coefficient", _DRAWN),
    Slip(_ALGEBRA, "collected[base] = collected.get(base, 0) + exponent", "collected[base] = exponent", _DRAWN),
    Slip(_ALGEBRA, "return tree.Power(base.base, tree.Number(base.exponent.value * q))",
         "return tree.Power(base.base, tree.Number(base.exponent.value + q))", _DRAWN),
    Slip(_ALGEBRA, 'else int(value > 0))', 'else int(value >= 0))', _DRAWN),
)
# fmt: on

SLIPS: tuple[Slip, ...] = (*VERDICTS, *LEDGER, *LANGUAGE)
