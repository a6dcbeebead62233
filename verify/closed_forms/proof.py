r"""Rechecks the obligations that make a formula the closed form of P_c of a function, and the checks that claims use.

The heat equation is a zero test in the class of closed forms; the limit c -> 0+, the growth bound and the domain of
analyticity are decided by ``verify.closed_forms.limits``. What these cannot decide is left open, and refuted only by a
witness.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms import heat_equation as heat
from giantsteps.derivations.closed_forms.gaussian_class import Member
from giantsteps.derivations.closed_forms.heat_equation import ClosedForm, HeatObligation
from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.derivation import Vanishing
from giantsteps.derivations.language.normal_probabilities import SignProduct
from giantsteps.verify.checks.checker import clear_witness, find_witness, settle
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.closed_forms.class_algebra import vanishes_in_class
from giantsteps.verify.closed_forms.limits import UndecidedError, check_growth, check_positive, limit
from giantsteps.verify.protocol.balls import NoBallError, enclose
from giantsteps.verify.protocol.claim import Claim, Domain, Profile, Range
from giantsteps.verify.protocol.evidence import Evidence, Outcome, Proof, Settled
from giantsteps.verify.protocol.paper import Paper

x, c = symbols.x, symbols.c

# A candidate that still differs from its initial value by this fraction at c = 1e-10 has another limit: P_c f - f is
# c f''/2 there, and away from breakpoints the functions in question have moderate curvature.
FAR_FROM_LIMIT = 1e-2
# Where in its range each symbol is tried, and by how much a correlation has to leave [-1, 1]: it is evaluated at twenty
# digits.
_SHARES_OF_RANGE = (0.0, 0.1, 0.35, 0.6, 0.85, 1.0)
_VISIBLY = 1e-9
# Longer residuals are not given to the elementary checker after the normal form of the class has failed: it would take
# minutes, and knows less of these functions.
_LONG = 300


def _until_refuted(obligations: Iterable[HeatObligation], domain: Domain) -> tuple[Settled, ...]:
    """The obligations rechecked in turn, up to the first that is violated: one refutes."""
    found: list[Settled] = []
    for obligation in obligations:
        found.append(settle_heat(obligation, domain))
        if found[-1].outcome is Outcome.REFUTES:
            break
    return tuple(found)


def settle_heat(obligation: HeatObligation, domain: Domain) -> Settled:
    """Recheck one obligation of a closed form."""
    match obligation:
        case heat.InitialValue():
            return _settle_initial(obligation, domain)
        case heat.UniformGrowth(says, expression):
            return _settle_by_rule(says, "term by term", lambda: check_growth(expression))
        case heat.AnalyticBelow(says, expression, below):
            settled = _settle_by_rule(says, "signs of coefficients", lambda: check_positive(expression, below))
            witness = "" if settled.outcome is Outcome.SUPPORTS else _undefined_at(expression, domain)
            return Settled(says, Outcome.REFUTES, settled.method, witness) if witness else settled
        case Vanishing(says, residual):
            return _settle_residual(says, residual, domain)


def _settle_by_rule(says: str, method: str, rule: Callable[[], None]) -> Settled:
    try:
        rule()
    except UndecidedError as reason:
        return Settled(says, Outcome.UNDECIDED, str(reason))
    return Settled(says, Outcome.SUPPORTS, method)


def _settle_residual(says: str, residual: sp.Expr, domain: Domain) -> Settled:
    # What is clearly wrong is most cheaply refuted as it stands, before it is brought to a normal form.
    if not residual.has(sp.I) and (witness := clear_witness(residual, domain)):
        return Settled(says, Outcome.REFUTES, "a witness", witness)
    if vanishes_in_class(residual):
        return Settled(says, Outcome.SUPPORTS, "normal form of the class")
    if residual.has(sp.I):  # the evaluator of the checker is for real formulas; balls are for both
        witness = _ball_witness(residual)
        outcome = Outcome.REFUTES if witness else Outcome.UNDECIDED
        return Settled(says, outcome, "a witness in ball arithmetic" if witness else "not reduced to zero", witness)
    witness = find_witness(residual, domain)
    if witness:
        return Settled(says, Outcome.REFUTES, "a witness", witness)
    if sp.count_ops(residual) > _LONG:
        return Settled(says, Outcome.UNDECIDED, "not reduced to zero, and no witness against it")
    return settle(Vanishing(says, residual), domain, growing=frozenset())  # there is no limit to take


def _undefined_at(expression: sp.Expr, domain: Domain) -> str:
    """A point of the domain at which a correlation is no number between -1 and 1, as text; empty if none was found.

    The formula stands for no number there, while P_c of a function is one.
    """
    for share in _SHARES_OF_RANGE:
        point = {
            r.symbol: sp.Rational(repr(r.low + share * (r.high - r.low)))
            for r in domain.ranges
            if isinstance(r.symbol, sp.Symbol)
        }
        for atom in expression.atoms(SignProduct):
            correlation = atom.args[2].xreplace(point)
            if correlation.free_symbols:
                continue
            real, imaginary = (sp.Abs(part).evalf(20) for part in correlation.evalf(20).as_real_imag())
            if real > 1 + _VISIBLY or imaginary > _VISIBLY:
                at = ", ".join(f"{symbol}={float(value):.4g}" for symbol, value in point.items())
                return f"the correlation {correlation.evalf(4)} at {at}"
    return ""


def _ball_witness(residual: sp.Expr) -> str:
    """A point at which a ball around ``residual`` excludes zero, as text; empty if none was found."""
    unknown = sorted(residual.free_symbols, key=str)
    for attempt in range(1, 4):
        point = {symbol: Fraction(3 * attempt + 2 * k, 10) for k, symbol in enumerate(unknown)}
        try:
            ball = enclose(residual, point)
        except NoBallError:
            return ""
        if not ball.contains(0) and ball.is_finite():
            return ", ".join(f"{symbol}={value}" for symbol, value in point.items())
    return ""


def prove(form: ClosedForm, name: str, known: Collection[HeatObligation] = ()) -> Proof:
    """The obligations of a closed form, without the ``known`` ones, rechecked; witnesses are sought where it holds."""
    low, high = 0.05, float(min(form.valid_below, 2)) * 0.95
    domain = Domain((Range(x, -1.5, 1.5), Range(c, low * min(1.0, high), high)))
    obligations = dict.fromkeys(o for o in form.obligations if o not in known)
    return Proof(name, _until_refuted(obligations, domain))


@dataclass(frozen=True)
class ByHeatEquation:
    """The right-hand side of the statement is P_c of a given function: heat equation, initial value, growth.

    ``position`` is what x stands for in the statement (such as r kappa), ``variable`` the symbol in it to solve for.
    """

    function: Callable[[], Member]
    variable: sp.Symbol = x
    scale: sp.Expr = sp.S.One

    @property
    def name(self) -> str:
        return "proof: heat equation, initial value, growth"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        statement = claim.statement
        if not isinstance(statement, sp.Equality):
            raise TypeError(f"{claim.id}: the heat equation proves a formula, not {statement}")
        candidate = statement.rhs.xreplace({self.variable: x / self.scale})
        obligations = heat.heat_obligations(candidate, self.function())
        ranges = (*claim.domain.ranges, Range(x, -1.5, 1.5))
        domain = Domain(ranges, claim.domain.hypotheses)
        return Proof(self.name, _until_refuted(obligations, domain))


@dataclass(frozen=True)
class ByClosedForm:
    """The right-hand side of the statement is a quantity of one activation as the rules give it, rechecked.

    ``activation`` is its text, ``quantity`` one that ``derivations.closed_forms.heat_equation.established`` knows.
    Functions of x are taken at x = r kappa.
    """

    activation: str
    quantity: str

    @property
    def name(self) -> str:
        return f"derivation: closed forms of {self.activation}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        statement = claim.statement
        if not isinstance(statement, sp.Equality):
            raise TypeError(f"{claim.id}: a closed form proves a formula, not {statement}")
        derived = _established(self.activation, self.quantity)[0].xreplace({x: symbols.r * symbols.kappa})
        final = _settle_residual("the statement equals what was derived", statement.rhs - derived, claim.domain)
        return Proof(self.name, (*_settled(self.activation, self.quantity), final))


@lru_cache(maxsize=256)
def _established(text: str, quantity: str) -> tuple[sp.Expr, tuple[HeatObligation, ...]]:
    return heat.established(heat.closed_forms(activation(text)), quantity)


@lru_cache(maxsize=256)
def _settled(text: str, quantity: str) -> tuple[Settled, ...]:
    domain = Domain((Range(x, -1.5, 1.5), Range(c, 0.05, 0.5)))
    return tuple(settle_heat(o, domain) for o in dict.fromkeys(_established(text, quantity)[1]))


def _settle_initial(obligation: heat.InitialValue, domain: Domain) -> Settled:
    says, place = obligation.says, obligation.place
    try:
        found = limit(obligation.expression.xreplace({x: place}))
    except UndecidedError as reason:
        return _refute_numerically(obligation, str(reason))
    settled = _settle_residual(says, found - obligation.value, domain)
    how = "limits of atoms" if settled.outcome is Outcome.SUPPORTS else "another limit"
    return Settled(says, settled.outcome, f"{how}: {settled.method}", settled.witness)


def _refute_numerically(obligation: heat.InitialValue, reason: str) -> Settled:
    """Where the rules fail: refuted if far from the initial value at a tiny c, else undecided."""
    if obligation.expression.has(sp.I):
        return Settled(obligation.says, Outcome.UNDECIDED, reason)
    point = {str(v): 0.7 for v in obligation.expression.free_symbols | obligation.place.free_symbols} | {"c": 1e-10}
    try:
        found = evaluate(obligation.expression.xreplace({x: obligation.place}), point)
        wanted = evaluate(obligation.value, point)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return Settled(obligation.says, Outcome.UNDECIDED, reason)
    if not abs(found - wanted) <= FAR_FROM_LIMIT * max(1.0, abs(wanted)):  # also where the formula is not real
        return Settled(obligation.says, Outcome.REFUTES, reason, f"{found:.4g} for {wanted:.4g} at c=1e-10, s=0.7")
    return Settled(obligation.says, Outcome.UNDECIDED, reason)
