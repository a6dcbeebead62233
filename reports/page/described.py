"""Derivations as text that can be rendered: LaTeX strings, no SymPy; so that workers can send them home."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.kernel.statements import Ground
from giantsteps.derivations.language.derivation import (
    Derivation,
    NonNegative,
    Obligation,
    RationalLimit,
    Step,
    Vanishing,
)
from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.derivations.language.rendering import latex
from giantsteps.verify.checks.mutants import MORE_NAMED
from giantsteps.verify.ledger.run import Examined
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.evidence import Proof
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.power import MutantResult


@dataclass(frozen=True)
class DescribedStep:
    """One line of a derivation; an obligation is what has to be checked and the form in which it is checked."""

    reason: str
    formula: str
    obligations: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DescribedDerivation:
    """A derivation for the reader; ``check`` is the name under which the ledger lists its proof.

    ``symbols`` are those of the glossary that its formulas hold, each with its meaning.
    """

    title: str
    source: str
    steps: tuple[DescribedStep, ...]
    results: tuple[str, ...]
    hypotheses: tuple[str, ...]
    check: str
    symbols: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class DescribedModule:
    """The derivations of a module, and all formulas that the pages set apart for its claims, what these stand on and
    its derivations.
    """

    derivations: tuple[DescribedDerivation, ...]
    formulas: tuple[str, ...]


def module_described(module: str, found: Mapping[str, Examined], paper: Paper) -> DescribedModule:
    """What the pages show of a module, once its claims are examined."""
    from giantsteps.verify.ledger.document import statement_latex
    from giantsteps.verify.protocol.order import claims_of

    derivations = derivations_of(module, paper.symbols)
    formulas = [formula for one in derivations for formula in (*(step.formula for step in one.steps), *one.results)]
    for claim in claims_of(module):
        if claim.id in found:
            formulas.append(statement_latex(claim))
            formulas += (mutated(mutant, claim) for mutant in found[claim.id].mutants)
            theorems = [e.theorem for e in found[claim.id].evidence if isinstance(e, Proof) and e.theorem is not None]
            formulas += (assumed.statement for theorem in theorems for assumed in theorem.assumptions)
    return DescribedModule(derivations, tuple(dict.fromkeys(formula for formula in formulas if formula)))


# A slip of the pen in a formula that is longer than this as MathML, in characters, is named and not shown.
LONG = 400
# What is set as a word or one sign; what leaves nothing by itself; and what is an element of its own in any case.
_WORD = re.compile(r"\\[A-Za-z]*(?:text|math|operatorname|mbox)[A-Za-z]*\*?\s*\{[^{}]*\}")
_NOTHING = re.compile(r"\\(?:left|right)\s*\.?|\\(?:limits|displaystyle|begin|end)(?:\{\w*\})?")
_ELEMENT = re.compile(r"[A-Za-z]|[0-9.]+|[-+=<>()\[\]|,/]")
_COMMAND = re.compile(r"\\[A-Za-z]+")


def least_length(formula: str) -> int:
    """What the MathML of a formula has at least, in characters, in one line: each letter, number or sign is an element
    of its own, such as <mi>x</mi>. It takes a hundredth of the time of a conversion.
    """
    signs = _COMMAND.sub("x", _NOTHING.sub("", _WORD.sub("x", formula)))
    return len("<mi>x</mi>") * len(_ELEMENT.findall(signs))


def mutated(mutant: MutantResult, claim: Claim) -> str:
    """The statement of a mutant, as LaTeX: only the right side if the left side is the claim's.

    Empty where it is not shown: a name that says all, or a mechanical one that is long.
    """
    wrong, right = mutant.statement, claim.statement
    if mutant.name == MORE_NAMED:
        return ""
    one_side = isinstance(wrong, sp.Equality) and isinstance(right, sp.Equality) and wrong.lhs == right.lhs
    formula = f"= {latex(wrong.rhs)}" if one_side else latex(wrong)
    written = mutant.name in {one.name for one in claim.mutants}
    return formula if written or least_length(formula) <= LONG else ""


def derivations_of(module: str, glossary: Sequence[Symbol]) -> tuple[DescribedDerivation, ...]:
    """The derivations that the claims of one module rest on, each once, in the order of the claims."""
    from giantsteps.verify.checks.proofs import ByDerivation
    from giantsteps.verify.protocol.order import claims_of

    builds = dict.fromkeys(
        check.build for claim in claims_of(module) for check in claim.checks if isinstance(check, ByDerivation)
    )
    return tuple(dict.fromkeys(describe(build(), glossary) for build in builds))


def describe(derivation: Derivation, glossary: Sequence[Symbol]) -> DescribedDerivation:
    """A derivation as text, with the meanings of its symbols."""
    return DescribedDerivation(
        derivation.title,
        derivation.source,
        tuple(
            DescribedStep(step.reason, latex(step.statement), (*_theorem(step), *_obligations(step.obligations)))
            for step in derivation.steps
        ),
        tuple(f"{latex(symbol)} = {latex(value)}" for symbol, value in derivation.results.items()),
        derivation.hypotheses,
        f"derivation: {derivation.title}",
        tuple(_explained(derivation, glossary)),
    )


def _explained(derivation: Derivation, glossary: Sequence[Symbol]) -> Iterable[tuple[str, str]]:
    used = {symbol for step in derivation.steps for symbol in step.statement.free_symbols}
    return ((latex(row.symbol), row.meaning) for row in glossary if row.symbol in used)


# How the line of a theorem begins, and what separates its assumptions.
THEOREM = "theorem by the rule"
BETWEEN_ASSUMPTIONS = re.compile(rf", (?=(?:{'|'.join(ground.value for ground in Ground)}): )")


def _theorem(step: Step) -> Iterable[tuple[str, str]]:
    """The rule that made a step, and what it assumes beside definitions."""
    if step.theorem is not None:
        listed = sorted(f"{one.ground.value}: {one.name}" for one in step.theorem.assumptions if not one.defines)
        assumed = f"; {', '.join(listed)}" if listed else ""
        yield f"{THEOREM} {step.theorem.rule.replace('_', ' ')}{assumed}", "made by the kernel"


def _obligations(obligations: Iterable[Obligation]) -> Iterable[tuple[str, str]]:
    for obligation in obligations:
        match obligation:
            case Vanishing(says, _):
                yield says, "reduces to zero"
            case RationalLimit(says, _, variable, _):
                yield says, f"limit of a rational function as {variable} grows"
            case NonNegative(says, _, squares):
                yield says, f"sum of {len(squares)} squares with weights >= 0"
