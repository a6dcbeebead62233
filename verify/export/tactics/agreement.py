"""How Rocq is told that a term equals one that is written in another way: its averages, functions and roots one by one,
the rest by algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import lcm

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.export.terms import Names, Scope, text

Change = Callable[[sp.Expr], sp.Expr]
Known = Callable[[sp.Expr, Scope], str | None]


def agree(term: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str = "") -> str:
    """Proves that ``term`` in the scope ``left`` equals ``change(term)`` in the scope ``right``: its averages,
    functions and roots one by one, the rest by algebra.
    """
    if text(term, names, left) == text(change(term), names, right):
        return "reflexivity"
    if (told := known(term, left)) is not None:
        return f"exact {told}"
    tactics = moves(term, change, names, left, right, known, path)
    return "; ".join(["cbv beta", *tactics, settled([term, change(term)], names, right, path)])


def moves(
    term: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str = ""
) -> list[str]:
    """The averages, functions and roots of a term changed one by one, wherever they stand in what is to be proved."""
    tactics = []
    spots = [s for s in _spots(term, known, left) if text(s, names, left) != text(change(s), names, right)]
    for k, spot in enumerate(sorted(spots, key=lambda s: -sum(1 for _ in sp.preorder_traversal(s)))):
        if (told := known(spot, left)) is not None:
            tactics.append(f"put {told}")
            continue
        label = f"Q__{path}{k}"
        said = f"{text(spot, names, left)} = {text(change(spot), names, right)}"
        inside = _inside(spot, change, names, left, right, known, f"{path}{k}_")
        tactics.append(f"assert ({label} : {said}) by ({inside}); try put {label}; clear {label}")
    return tactics


def settled(terms: Iterable[sp.Expr], names: Names, scope: Scope, path: str = "") -> str:
    """What algebra does not look into is written in one way, and then algebra does the rest."""
    terms = tuple(terms)
    tactics = []
    for k, (old, new) in enumerate(_twins(terms)):
        label = f"T__{path}{k}"
        if isinstance(old, Expectation):
            inner = dict(scope)
            for n, variable in enumerate(old.variables):
                inner[variable] = f"z__{path}t{k}_{n}"
            intros = "; ".join(f"apply E_ext; intro {inner[variable]}" for variable in old.variables)
            proof = f"{intros}; {settled([old.integrand, new.integrand], names, inner, f'{path}t{k}_')}"
        else:
            pairs = zip(old.args, new.args, strict=True) if not old.is_Pow else [(old.base, new.base)]
            parts = [settled(pair, names, scope, f"{path}t{k}_{n}_") for n, pair in enumerate(pairs)]
            proof = f"apply {_congruent(len(parts))}; [{' | '.join(parts)}]"
        said = f"{text(old, names, scope)} = {text(new, names, scope)}"
        tactics.append(f"assert ({label} : {said}) by ({proof}); try put {label}; clear {label}")
    powers = _exponentials(terms, names, scope, path)
    last = f"first [same | {'; '.join([*powers, 'same'])}]" if powers else "same"
    return "; ".join([*tactics, last])


def _exponentials(terms: Iterable[sp.Expr], names: Names, scope: Scope, path: str) -> list[str]:
    """Each exponential as a product of whole powers of some few: exp(a/2 - b) = exp(a/4)^2 / exp(b)."""
    spots = dict.fromkeys(s for term in terms for s in _spots(term, nothing, {}) if s.func is sp.exp)
    sums = {
        spot: [part.as_coeff_Mul(rational=True) for part in sp.Add.make_args(sp.expand(spot.exp))] for spot in spots
    }
    shares: dict[sp.Expr, int] = {}
    for parts in sums.values():
        for number, rest in parts:
            shares[rest] = lcm(shares.get(rest, 1), int(number.q))
    tactics = []
    for k, (spot, parts) in enumerate(sums.items() if len(spots) > 1 else ()):
        proof, product = "exp_0", "1"
        for number, rest in reversed(parts):
            base, times = text(rest / shares[rest], names, scope), int(number * shares[rest])
            law = "exp_times" if times > 0 else "exp_inverse"
            power = f"((exp {base}) ^ {abs(times)})"
            product = f"({power if times > 0 else f'(/ {power})'} * {product})"
            known = f"({law} {abs(times)} {base} ({times}) ltac:(simpl; lra))"
            proof = f"(exp_cons _ _ _ _ {known} {proof})"
        label = f"X__{path}{k}"
        said = f"{text(spot, names, scope)} = {product}"
        tactics.append(f"assert ({label} : {said}) by (refine (exp_as _ _ _ {proof} _); same)")
        tactics.append(f"try put {label}; clear {label}")
    return tactics


def _twins(terms: Iterable[sp.Expr]) -> list[tuple[sp.Expr, sp.Expr]]:
    """Pairs of atoms that are the same function of what is equal by algebra, but not written alike."""
    spots = (spot for term in terms for spot in _spots(term, nothing, {}))
    atoms = list(dict.fromkeys(_root(s) if s.is_Pow and s.exp.is_Rational else s for s in spots))
    found, kept = [], list[sp.Expr]()
    for atom in atoms:
        twin = next((other for other in kept if _alike(atom, other)), None)
        if twin is None:
            kept.append(atom)
        else:
            found.append((atom, twin))
    return found


def _root(power: sp.Expr) -> sp.Expr:
    """The root that a power is one of."""
    return sp.Pow(power.base, sp.Rational(1, power.exp.q))


@lru_cache(maxsize=65536)
def _alike(first: sp.Expr, second: sp.Expr) -> bool:
    same = first.func == second.func and len(first.args) == len(second.args)
    if not same or first.free_symbols != second.free_symbols:
        return False
    if not isinstance(first, AppliedUndef) and first.args[1:] != second.args[1:]:
        return False
    try:
        return all(a == b or vanishing(a - b, (a, b)) is not None for a, b in zip(first.args, second.args, strict=True))
    except Refused:
        return False


def _spots(term: sp.Expr, known: Known, scope: Scope) -> list[sp.Expr]:
    """The outermost parts of a term that algebra does not look into, each once."""
    root = isinstance(term, sp.Pow) and not term.exp.is_Integer
    if known(term, scope) is not None or isinstance(term, sp.Function) or root:
        return [term]
    return list(dict.fromkeys(spot for part in term.args for spot in _spots(part, known, scope)))


def _inside(spot: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str) -> str:
    """The same of one average, function or root, by what stands inside it."""
    after = change(spot)
    if isinstance(spot, sp.Function) and not isinstance(spot, Expectation) and after.func != spot.func:
        return "; ".join([*_arguments(spot, change, names, left, right, known, path), "same"])
    if isinstance(spot, Expectation):
        kept = list(after.variables) if isinstance(after, Expectation) else []
        renamed = dict(zip(_kept(spot, change), kept, strict=False))
        left, right, tactics = dict(left), dict(right), []
        for k, variable in enumerate(spot.variables):
            name = f"z__{path}{k}"
            tactics.append(f"apply {'E_ext' if variable in renamed else 'E_drop'}; intro {name}")
            left[variable] = name
            right[renamed.get(variable, variable)] = name
        body = after.integrand if isinstance(after, Expectation) else after
        integrand = spot.integrand

        def moved(part: sp.Expr) -> sp.Expr:
            return body if part == integrand else change(part).xreplace(renamed)

        return "; ".join([*tactics, agree(integrand, moved, names, left, right, known, path)])
    if isinstance(spot, sp.Pow):
        base = agree(spot.base, change, names, left, right, known, path)
        label = f"B__{path}"
        said = f"{text(spot.base, names, left)} = {text(change(spot.base), names, right)}"
        return (
            f"assert ({label} : {said}) by ({base}); try put {label}; first [same | apply root_unique; [sign | same]]"
        )
    parts = [agree(part, change, names, left, right, known, f"{path}{k}_") for k, part in enumerate(spot.args)]
    return f"first [apply {_congruent(len(parts))}; [{' | '.join(parts)}] | same]"


def _arguments(
    spot: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str
) -> list[str]:
    """The arguments of a function changed, where this has then a value that is written in another way."""
    tactics = []
    for k, part in enumerate(spot.args):
        if text(part, names, left) != text(change(part), names, right):
            proof = agree(part, change, names, left, right, known, f"{path}{k}_")
            said = f"{text(part, names, left)} = {text(change(part), names, right)}"
            tactics.append(f"assert (A__{path}{k} : {said}) by ({proof}); try put A__{path}{k}")
    return tactics


def _congruent(places: int) -> str:
    """The lemma by which a function of so many arguments has one value for equal ones."""
    return "f_equal" if places == 1 else f"f_equal{places}"


def _kept(spot: Expectation, change: Change) -> list[sp.Symbol]:
    """The variables of an average that its changed integrand still speaks of, in order."""
    after = change(spot)
    if not isinstance(after, Expectation):
        return []
    if len(after.variables) == len(spot.variables):
        return list(spot.variables)
    return [v for v in spot.variables if v in after.variables]


def nothing(term: sp.Expr, scope: Scope) -> str | None:
    return None
