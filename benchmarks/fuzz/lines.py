"""Command lines to try: valid ones, valid ones with a slip, and noise; the one of a number is always the same.

Work is bounded by what is asked for: simulations are small, an analysis has a limit of time, no command runs the
ledger. What takes long is drawn seldom, so that a hundred thousand lines are an hour or two: sweeps, losses other than
the square, a learned bias, certificates, deep formulas, the list of all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from giantsteps.derivations.expressions.named import NAMED

# Bounded or slowly growing, so that averages are finite; functions with poles and branches; constants.
_TAME = ("tanh", "erf", "sin", "cos", "relu", "gelu", "silu", "softplus", "sign", "hardtanh", "sigmoid", "asinh")
_WILD = ("exp", "log", "sqrt", "tan", "sinh", "cosh", "Abs", "erfc", "atan", "arctan", "step", "elu", "he3", "floor")
_CONSTANTS = ("pi", "e", "1/2", "0.3", "2", "1/3", "0", "-1", "7", "1e-3")
# What a person types by mistake, or a machine on purpose.
_ODDITIES = (
    "", " ", "nan", "inf", "-inf", "1e999", "-0", "0", "-1", "1e-320", "1e308", "1_000", "0x10", "1/3", "½", "1,,2",
    ",", "1:2", "1:2:0", "1:2:3:4", "log:0:1:5", "log:1:10:3", "1:2:999999999", "1:2:2.5", "a", "z", "None", "True",
    "1;2", "[1]", "--", "-", "'", '"', "\\", "\x00", "\n", "\t1", "1 2", "+1", "1.", ".5", "1e", "e5", "¹", "๓",
    "1e-5:1:4", "𝒛", "0.6/0.3", "1/2/3", "0" * 400, "9" * 400, "1." + "3" * 400, "{}", "%s", "$HOME", "../x",
    "normal:1", "learned",
)  # fmt: skip
_PLAIN: dict[str, tuple[str, ...]] = {
    "alpha": ("1.5", "0.1", "0.5", "10", "1", "100"),
    "beta": ("1", "0.3", "2", "10", "0.01"),
    "ridge": ("0.1", "0", "1e-8", "1", "100"),
    "noise": ("0", "0.1", "1", "10"),
    "spike": ("1", "0", "-2", "3.5", "0.1", "20"),
    "bulk": ("1", "0.2", "3", "10"),
    "alignment": ("0.8", "0", "1", "-1", "-0.3"),
    "alpha0": ("2", "0", "0.5", "20"),
    "eta": ("3", "0", "0.5", "12"),
}
# More than one value of an option, in its own notations.
_SEVERAL = {"alpha": ("0.5:3:4", "log:0.1:10:3"), "beta": ("0.5,1,2",), "ridge": ("1e-3,1",)}
_LOSSES = ("square", "logistic", "hinge", "huber:1", "huber:0.2", "absolute")
_READOUTS = ("1:0.5,-1:0.5", "1:1", "2:0.3,-1:0.7", "1:0.5:2,-1:0.5:0.5", "1:0.5::0.3,-1:0.5::-0.3", "normal:1")
_BIASES = ("0.3:0.5,-0.3:0.5", "0.2:1", "0:1", "0.3:0.5,-0.3:0.5", "0.2:1", "learned")
_NAMES = tuple(sorted(NAMED))
_SYMBOLS = "z0123456789+-*/^()., <>=&|~eE_:;!?{}[]'\"\\\tπ∞"


def line(number: int) -> list[str]:
    """The words after `giantsteps` of command line ``number``."""
    random = Random(f"line {number}")
    words = random.choices(*_KINDS)[0](random)
    chance = random.random()
    for _ in range((chance >= 0.55) + (chance >= 0.9)):
        words = _with_a_slip(random, words)
    return words


def expression(random: Random, depth: int = 3) -> str:
    """A formula in z as a person writes it, most of them with finite averages."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(("z", "z", "z", random.choice(_CONSTANTS)))
    inner, chance = expression(random, depth - 1), random.random()
    if chance < 0.45:
        return f"{random.choice(_TAME)}({inner})"
    if chance < 0.52:
        return f"{random.choice(_WILD)}({inner})"
    if chance < 0.57:
        return random.choice(_NAMES)
    other = expression(random, depth - 1)
    if chance < 0.85:
        return f"{inner}{random.choice('+-*')}{other}"
    if chance < 0.9:
        return f"({inner})/({other})"
    if chance < 0.94:
        return f"({inner})**{random.choice(('2', '3', '-1', '1/2', '0', other))}"
    if chance < 0.97:
        return f"{random.choice(('Max', 'Min'))}({inner},{other})"
    return f"Piecewise(({inner}, z {random.choice('<>')} {random.choice(_CONSTANTS)}), ({other}, True))"


def _options(random: Random, names: Sequence[str]) -> list[str]:
    """Options with plain values, seldom with several, in the order of ``names``."""
    words = []
    for name in names:
        several = name in _SEVERAL and random.random() < 0.03
        words += [f"--{name}", random.choice(_SEVERAL[name] if several else _PLAIN[name])]
    return words


def _model(random: Random) -> list[str]:
    """The options of a model: by spike, bulk and alignment, or by a step."""
    depths = random.choices((0, 1, 2, 3), (35, 30, 20, 15))[0], random.choices((0, 1, 2), (35, 45, 20))[0]
    formulas = [random.choice(_NAMES) if depth == 0 else expression(random, depth) for depth in depths]
    words = ["--activation", formulas[0], "--target", formulas[1]]
    by = random.choice((("spike", "bulk", "alignment"), ("alpha0", "eta")))
    words += _options(random, ("alpha", "beta", "ridge", *by))
    if random.random() < 0.4:
        words += _options(random, ("noise",))
    for name, values in (("loss", _LOSSES), ("readout", _READOUTS), ("bias", _BIASES)):
        if random.random() < 0.06:
            words += [f"--{name}", random.choice(values)]
    if "alpha0" in by and random.random() < 0.3:
        words += ["--bulk-model", "network"]
    return words + (["--rows", "gaussian"] if random.random() < 0.05 else [])


def _solve(random: Random) -> list[str]:
    more = random.choices(([], ["--width", "200"], ["--certify"], ["--digits", "20"]), (40, 6, 1, 3))[0]
    return ["solve", *_model(random), *more, *_json(random)]


def _plain(command: str) -> Callable[[Random], list[str]]:
    return lambda random: [command, *_model(random), *_json(random)]


def _simulate(random: Random) -> list[str]:
    kind = random.choice((["--kind", "network"], ["--kind", "srf"], ["--kind", "equivalent"], []))
    sizes = ["--dimension", random.choice(("20", "37", "60")), "--seeds", random.choice(("1", "2"))]
    return ["simulate", *_model(random), *sizes, *kind, *_json(random)]


def _compare(random: Random) -> list[str]:
    return ["compare", *_model(random), "--dimensions", "20,30,40", "--seeds", "3", *_json(random)]


def _activation(random: Random) -> list[str]:
    more = random.choice(([], ["--target", expression(random, 2)], ["--digits", "12"], ["--latex"]))
    return ["activation", expression(random), *more, "--time-limit", "2", *_json(random)]


def _looked_up(random: Random) -> list[str]:
    asked = random.choice(("result-3-1.spike-strength", "nothing.such", "result-3-2.same-test-error", "claims", ""))
    # Misprints are checked again before they are listed, which is work: none is asked for.
    kinds = (["claims", asked], ["claims", "beyond"], ["claims"], ["errata", "nothing.such"])
    return [*random.choices(kinds, (10, 1, 1, 8))[0], *_json(random)]


def _no_command(random: Random) -> list[str]:
    return random.choice((["frobnicate"], ["--frobnicate"], ["solve"], ["--version"], ["solve", "--help"], ["sweep"]))


def _json(random: Random) -> list[str]:
    return ["--json"] if random.random() < 0.6 else []


_KINDS: tuple[tuple[Callable[[Random], list[str]], ...], tuple[float, ...]] = (
    (_solve, _plain("bounds"), _plain("spectrum"), _simulate, _compare, _activation, _looked_up, _no_command),
    (80, 4, 3, 4, 0.5, 3, 4, 1.5),
)


def _with_a_slip(random: Random, words: list[str]) -> list[str]:
    """The words with one of them lost, doubled, exchanged, misspelt or replaced."""
    if not words:
        return words
    words, at = list(words), random.randrange(len(words))
    match random.randrange(7):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[at])
        case 2:
            other = random.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        case 3 | 4:
            words[at] = _misspelt(random, words[at])
        case 5:
            words[at] = random.choice(_ODDITIES)
        case _:
            words.insert(at, random.choice(_ODDITIES))
    # A command that runs the ledger, or writes, is no input of this campaign.
    return words if not words or words[0] not in ("report", "verify", "errata") else ["claims", *words]


def _misspelt(random: Random, word: str) -> str:
    """A word with a few characters lost, put in or changed."""
    letters = list(word)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(letters) + 1)
        match random.randrange(3):
            case 0 if letters:
                del letters[min(at, len(letters) - 1)]
            case 1:
                letters.insert(at, random.choice(_SYMBOLS))
            case _ if letters:
                letters[min(at, len(letters) - 1)] = random.choice(_SYMBOLS)
    return "".join(letters)
