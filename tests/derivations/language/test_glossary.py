"""Names of symbols are keys: two of one name are an error in a table, in a formula, and in none of the claims."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.equivalence.symbols import fit_slope
from giantsteps.derivations.language.glossary import Glossary, GlyphError, refuse_repeated_names
from giantsteps.derivations.language.rendering import latex
from giantsteps.derivations.language.symbols import inverse_temperature
from giantsteps.verify.checks.checker import find_witness
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Domain


def test_a_name_is_given_once() -> None:
    table = Glossary()
    table.define("B", "inverse temperature", positive=True)
    with pytest.raises(GlyphError, match="called B: 'inverse temperature' and 'slope of a fit'"):
        table.define("B", "slope of a fit")


def test_the_same_meaning_twice_is_no_less_wrong() -> None:
    # SymPy would hand out the same symbol: the second row would be about the first one's values.
    table = Glossary()
    table.define("s_3", "third coefficient")
    with pytest.raises(GlyphError):
        table.define("s_3", "third coefficient")


def test_no_two_symbols_of_the_paper_have_one_name() -> None:
    names = [entry.symbol.name for entry in PAPER.symbols]
    assert len(set(names)) == len(names)


def test_symbols_that_are_printed_alike_have_names_of_their_own() -> None:
    assert latex(fit_slope) == latex(inverse_temperature) == "B"
    assert evaluate(fit_slope / inverse_temperature, {fit_slope.name: 6.0, inverse_temperature.name: 2.0}) == 3.0


def test_a_formula_with_two_symbols_of_one_name_has_no_value() -> None:
    one, other = sp.Symbol("B", positive=True), sp.Symbol("B", real=True)
    refuse_repeated_names([one, one, sp.Symbol("C")], "a formula")
    with pytest.raises(GlyphError, match="two symbols are called B"):
        evaluate(one / other, {"B": 1.0})
    # and it is not passed over as a point that cannot be evaluated, which would leave a wrong formula without a witness
    with pytest.raises(GlyphError):
        find_witness(one - other, Domain())
