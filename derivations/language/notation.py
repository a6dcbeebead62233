"""How functions without a formula are written: the paper's letters, and notation for what only derivations name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import sympy as sp

# Undefined functions that stand for objects with a name of their own.
_NAMES = {
    "mu0": r"\mu_0", "mu1": r"\mu_1", "mu2": r"\mu_2", "mu1_slope": r"\mu_1'", "mu2u": r"\mu_2", "y0": "y_0",
    "y1": "y_1", "y2": "y_2", "yhat": r"\hat y", "e2": "e_2", "vartau": r"\tau", "varpi": r"\pi",
    "sigma_prime": r"\sigma'", "sigma_second": r"\sigma''", "sigma_check": r"\check\sigma'", "g_prime": "g'",
    "eta_prime": r"\eta'", "mu0u": r"\mu_0", "mu1u": r"\mu_1", "Vk": "V", "Vhat": r"\hat V",
    "qhat": r"\hat q", "q^": r"\hat q", "cu": "c", "mu": "m", "zetau": r"\zeta", "ell_a": r"\ell_a", "ell_b": r"\ell_b",
    "ell_q": r"\ell_q", "sgn": r"\mathrm{sgn}", "Cov": r"\mathrm{Cov}", "det_C": r"\det C", "cos_a": r"\cos_a",
    "He_J": r"\mathrm{He}_{J}", "He_{J+1}": r"\mathrm{He}_{J+1}", "Wx_\\perp": r"Wx_{\perp}",
    # Losses, what a sample or a weight costs, and where that is least.
    "l": r"\ell", "loss": r"\ell", "loss_prime": r"\ell'", "slope of a supporting line": r"\ell^{\star}",
    "energy": r"\mathcal{H}", "prox": r"\mathrm{prox}", "envelope": r"\mathcal{M}", "force": "f",
    "fitted": r"\hat{\mathsf{h}}", "objective": r"\mathcal{P}", "readout risk": r"\hat{\mathcal{R}}",
    "weight energy": r"\mathcal{H}_{a}", "weight": r"\hat a", "weight envelope": r"\mathcal{M}_{a}",
    "overlap force": r"\mathcal{F}_{\zeta}", "own force": r"\mathcal{F}_{k}", "mean force": r"\mathcal{F}_{m}",
    "cost of m": r"\mathcal{C}_{m}", "seen": r"\hat u", "spread": "s", "V share": r"\mathsf{V}",
    "q share": r"\mathsf{q}", "mean share": r"\mathsf{m}",
    # Exponents and averages of the replica computation.
    "E Z^R": r"\mathcal{Z}", "E_field Z^R": r"\mathcal{Z}_{\Xi}", "ln Z mode": r"\ln\mathcal{Z}_{u}",
    "ln sample": r"\ln\mathcal{Z}_{y}", "ln Z readouts": r"\ln\mathcal{Z}_{a}", "ln det": r"\ln\det",
    "ln Gaussian": r"\ln\mathcal{G}", "trace exponent": r"\mathcal{E}_{t}",
    "trace exponent of random features": r"\mathcal{E}_{t}", "prior exponent": r"\mathcal{E}_{w}",
    "sample exponent": r"\mathcal{E}_{y}", "exponent": r"\mathcal{E}", "mode exponent": r"\mathcal{E}_{u}",
    "mode exponent in parts": r"\tilde{\mathcal{E}}_{u}", "curvature of mode": "S", "noise of mode": "k",
    "force of mode": "f", "saddle value": r"\mathrm{extr}",
    # Resolvents: x.(A + w u u^T)^-1 y and ln det(A + w u u^T) from what they are at w = 0.
    "updated form": r"\mathcal{R}", "updated ln det": r"\ln\mathcal{D}", "det(1+CTheta)": r"\det(1+C\Theta)",
    "(1/d)trW^TS^{-1}W": r"\frac{1}{d}\mathrm{tr}\,W^{\top}S^{-1}W", "w.W^TS_i^{-1}Ww": r"w^{\top}W^{\top}S_{i}^{-1}Ww",
    "y.S^{-1}e_i": r"y^{\top}S^{-1}e_{i}", "w'.x": r"w'\cdot x", "eigenvalue": r"\varrho",
    "largest eigenvalue over p": r"\frac{\lambda_{\max}}{p}", "gamma of alpha_0": r"\gamma",
    **{f"mu{j}_{letter}": rf"\mu_{{{j},{letter}}}" for j in range(3) for letter in (1, 2)},
    **{f"k2_{letter}": f"k_{{2,{letter}}}" for letter in (1, 2)},
    **{
        f"{f}_{side}": f"{f}^{mark}"
        for f in ("F_1", "F_2", "C", "D")
        for side, mark in (("above", "+"), ("below", "-"))
    },
}  # fmt: skip
# Functions of label, mean output and variance, whose arguments are pages long: shown with the names of their arguments.
ABBREVIATED = {
    "envelope": r"\mathcal{M}(y, \omega, V)",
    "force": r"f(y, \omega, V)",
    "force_slope": r"\partial_\omega f(y, \omega, V)",
}

# Symbols that the paper writes as another one: their names tell them apart, what is printed does not.
_SYMBOLS = {
    "B_fit": "B",
    r"\ell_{\mathrm{out}}": r"\ell",
    "d (Cov - mu_1^2 epsilon)": r"d (\mathrm{Cov} - \mu_1^2 \epsilon)",
}

# A name with one of these is LaTeX already; SymPy would take its carets and underscores apart.
_VERBATIM = frozenset("\\{}[]()|/ '")
# Where a coefficient stands in a series.
_IS_INDEX = re.compile(r"[kJN0-9 +-]+")
_LOG_OR_LOSS = (r"\ln Z", r"\mathcal{L}")
# How the operators of the kernel are written, from what their arguments are written as.
OPERATORS: Mapping[str, Callable[..., str]] = {
    "repeated": lambda count, term: rf"\sum_{{{_index(term)}=1}}^{{{count}}} {term}",
    "product": lambda count, factor: rf"\prod_{{{_index(factor)}=1}}^{{{count}}} {factor}",
    "sum over replicas": lambda count, own, other: (
        rf"\sum_{{i,j=1}}^{{{count}}} \begin{{cases}} {own} & \text{{for}}\: i = j \\"
        rf"{other} & \text{{for}}\: i \neq j \end{{cases}}"
    ),
    "naturals below": lambda end: rf"\mathrm{{card}}\{{k \in \mathbb{{N}} : k < {end}\}}",
    "of the network": lambda value: rf"\left({value}\right)^{{\mathrm{{net}}}}",
    "s": lambda *at: f"s_{{{at[0]}}}" if _IS_INDEX.fullmatch(at[0]) else f"s({', '.join(at)})",
    "L": lambda *at: f"{_LOG_OR_LOSS[len(at) > 1]}({', '.join(at)})",
    **{name: lambda *_, name=name: name for name in ("a_k", "s_k", "f_k")},
}
# Those that end with the term that they run over.
RUNNING = frozenset({"repeated", "product", "sum over replicas"})


def _index(term: str) -> str:
    """An index that no sum within a term runs over."""
    return next(letter for letter in "ijkl" if rf"_{{{letter}=1}}" not in term)


_GREEK = re.compile(
    r"(?<![\\A-Za-z])(alpha|beta|gamma|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|psi|omega|Phi|Psi|Theta|Gamma)"
    r"(?![A-Za-z])"
)


def _commands(name: str) -> str:
    """A name with commands for its Greek letters."""
    return _GREEK.sub(r"\\\1", name)


@lru_cache(maxsize=4096)
def is_sum(name: str) -> bool:
    """Whether a symbol is written as a sum, which needs brackets in a product."""
    depth = 0
    for k, sign in enumerate(name):
        depth += (sign in "{[(") - (sign in "}])")
        if depth == 0 and sign in "+-" and k > 0:
            return True
    return False


_PLACE = re.compile(r"(.+?)_\{(.*),(\d+)\}")


@lru_cache(maxsize=4096)
def symbol(name: str) -> str | None:
    """How a symbol is written whose name is LaTeX, or that stands for another one; None for a plain name."""
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if not _VERBATIM & set(name):
        return None
    return name if r"\text{" in name else _commands(name).replace(" moved", "")


@lru_cache(maxsize=4096)
def function(name: str) -> str:
    """How a function is written: by its name here, with its primes or the place of a partial derivative."""
    if name in _NAMES:
        return _NAMES[name]
    bare = name.removesuffix(" moved").rstrip("'")
    if bare != name:
        inner = bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare
        written, primes = function(inner), "'" * (len(name) - len(name.rstrip("'")))
        return f"({written}){primes}" if primes and written.startswith(r"\ln") else written + primes
    if place := _PLACE.fullmatch(name):
        return rf"\partial_{{{place[3]}}}{function(f'{place[1]}_{place[2]}' if place[2] else place[1])}"
    if name.startswith("w.Q"):
        return name.replace("w.", r"w^{\top}", 1)
    return symbol(name) or str(sp.latex(sp.Symbol(name)))
