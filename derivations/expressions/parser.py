"""The safe parser: text to expression tree, by a whitelist over Python's `ast`; nothing is ever evaluated.

The language: z, integers, decimals (exact rationals), pi, e, + - * / **, the functions of `named_activations`,
Max, Min, Piecewise((value, condition), ..., (value, True)), where(condition, value, value).  Everything else is refused
in one sentence.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from fractions import Fraction
from itertools import islice
from typing import Any

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import add, divide, multiply, negate, piecewise, power, substitute
from giantsteps.derivations.expressions.named import CONSTRUCTIONS, named_function, nearest_names, stands_alone
from giantsteps.derivations.expressions.tree import Expression, ExpressionError, Z

LONGEST_TEXT = 1000
DEEPEST_NESTING = 50
LARGEST_EXPONENT = 64
MOST_NODES = 20_000
# Named functions are several operations deep, and a chain of quotients is as deep as it is long.
DEEPEST_TREE = 100
# Rationals of up to this many bits above and below: far beyond the range of doubles, far below what slows a parser.
LONGEST_NUMBER = 1024

_EXAMPLE = 'for example "tanh(z)" or "Piecewise((z, z > 0), (0, True))"'
_PIECEWISE = "Piecewise takes (value, condition) pairs, the last condition True: Piecewise((z, z > 0), (0, True))"
_WHERE = "where takes a condition and two values, for example where(z > 0, z, 0)"
_ACCEPTED = f"a formula in z is accepted, {_EXAMPLE}"
_CONSTANTS = ("pi", "e", "E")
# A number with what it is to be multiplied by written after it, as on paper: 2z, 2 tanh(z).
_JUXTAPOSED = re.compile(r"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([A-Za-z]\w*)")
_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?")
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def parse(text: str, *, limited: bool = True) -> Expression:
    """The expression tree of `text`; a function's name alone means that function of z, as a whole or inside.

    With limited=False the caps on length and nesting are lifted: for canonical text that this package printed itself.
    Raises ExpressionError, with one sentence, for anything outside the language.
    """
    if not isinstance(text, str):
        raise ExpressionError(f'a value of type {type(text).__name__} is no formula: give text, for example "tanh(z)"')
    _check_text(text, limited)
    stripped = text.strip()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tokeniser warns about odd literals; they are refused below
        try:
            root = ast.parse(stripped, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            repair = _repair(stripped)
            raise ExpressionError(f"the expression {_short(stripped)} is not well formed; {repair}") from None
    expr = _Reader(stripped, DEEPEST_NESTING if limited else 400).read(root, 0)
    _check_size(expr, limited)
    return expr


def is_sympy(given: object) -> bool:
    """Whether this is an expression or a function of SymPy, such as `sympy.tanh(x)` or `sympy.tanh`."""
    sp = sys.modules.get("sympy")
    function = sp is not None and isinstance(given, sp.FunctionClass | sp.Lambda) and 1 in given.nargs
    return sp is not None and (function or isinstance(given, sp.Expr | sp.Poly))


def from_sympy(given: Any) -> Expression:
    """The tree of a SymPy expression in one symbol, whatever its name; exact, a float being its shortest decimal.

    Raises ExpressionError for another number of symbols, for a symbol that is not any real number, for a Piecewise
    without a value somewhere, and for what the language does not have.
    """
    from sympy import And, Float, FunctionClass, Lambda, Or, Rational, S, Symbol, nan, to_dnf
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        _print_Symbol = _print_Dummy = staticmethod(lambda symbol: "z")

        def _print_Float(self, value: Any) -> str:
            return f"({Rational(repr(float(value))) if value == Float(float(value)) else Rational(value)})"

        def _print_Piecewise(self, function: Any) -> str:
            if function.args[-1][1] != S.true or function.has(nan):
                raise ExpressionError(f"{function} has no value somewhere: add a last pair (value, True)")
            text = ""
            for value, condition in reversed(function.args):
                for case in Or.make_args(to_dnf(condition)):
                    inner = self._print(value)
                    for one in () if case is S.true else And.make_args(case):
                        inner = f"where({self._print(one)}, {inner}, {text})"
                    text = inner
            return str(text)

    of_symbol = isinstance(given, FunctionClass | Lambda)
    expression = given(Symbol("z", real=True)) if of_symbol else given.as_expr()
    if len(symbols := expression.free_symbols) != 1:
        raise ExpressionError(
            f"{expression} has {len(symbols)} symbols, exactly one is accepted: use expression.subs(a, 2)"
        )
    (symbol,) = symbols
    if (
        symbol.is_extended_real is False
        or symbol.is_integer
        or symbol.is_negative is False
        or symbol.is_positive is False
    ):
        raise ExpressionError(f"{symbol} must be any real number: use Symbol({str(symbol)!r}, real=True)")
    return parse(str(Printer().doprint(expression)), limited=False)


def meant_by_constant(text: str) -> str:
    """What a function of numbers alone, such as elu(0.5), was probably meant to be; empty for other text."""
    root = ast.parse(text.strip(), mode="eval").body
    if not isinstance(root, ast.Call) or not isinstance(root.func, ast.Name):
        return ""
    name, known = root.func.id, named_function(root.func.id)
    if known is None:
        return ""
    parameter = len(root.args) == 1 and (known.least, known.most) == (1, 2)
    return f"{name}(z, {ast.get_source_segment(text.strip(), root.args[0])})" if parameter else known.example


def _check_text(text: str, limited: bool) -> None:
    if limited and len(text) > LONGEST_TEXT:
        raise ExpressionError(
            f"the expression has {len(text)} characters, at most {LONGEST_TEXT} are accepted, {_EXAMPLE}"
        )
    if not text.strip():
        raise ExpressionError(f"the expression is empty; a formula in z is accepted, {_EXAMPLE}")
    strange = next((c for c in text if not (" " <= c <= "~")), None)
    if strange is not None:
        raise ExpressionError(
            f"the expression holds the character {strange!a}; only plain ASCII on one line is accepted, {_EXAMPLE}"
        )
    depth = deepest = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        deepest = max(deepest, depth)
    if deepest > (DEEPEST_NESTING if limited else 190):
        raise ExpressionError(
            f"the expression nests {deepest} parentheses, at most {DEEPEST_NESTING} are accepted, {_EXAMPLE}"
        )


def _check_size(expr: Expression, limited: bool) -> None:
    if tree.depth(expr) > DEEPEST_TREE:
        raise ExpressionError(
            f"the expression nests more than {DEEPEST_TREE} operations in each other; write it with fewer, {_EXAMPLE}"
        )
    for node in tree.walk(_checked_nodes(expr)):
        if limited and isinstance(node, tree.Power) and isinstance(node.exponent, tree.Number):
            _check_exponent(node.exponent.value)
        if limited and isinstance(node, tree.Number):
            _check_number(node.value)


def _checked_nodes(expr: Expression) -> Expression:
    # nested calls such as mish(mish(...)) double the tree at every level: stop before it explodes
    if sum(1 for _ in islice(tree.walk(expr), MOST_NODES + 1)) > MOST_NODES:
        raise ExpressionError(f"the expression expands to more than {MOST_NODES} nodes; write a shorter one")
    return expr


def _check_exponent(value: Fraction) -> None:
    if abs(value) > LARGEST_EXPONENT or value.denominator > LARGEST_EXPONENT:
        shown = str(value) if len(str(value)) < 20 else "given"
        raise ExpressionError(f"the exponent {shown} is too large; at most {LARGEST_EXPONENT} is accepted: z**3")


def _check_number(value: Fraction) -> None:
    if value.numerator.bit_length() > LONGEST_NUMBER or value.denominator.bit_length() > LONGEST_NUMBER:
        raise ExpressionError(
            f"a number in the expression is too long: numerator and denominator may have {LONGEST_NUMBER} bits each"
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _repair(text: str) -> str:
    """What to change in a text that is not well formed."""
    written = _JUXTAPOSED.finditer(text)
    product = next((p for p in written if p[2] in ("z", *_CONSTANTS) or named_function(p[2])), None)
    if product:
        return f"the product {product[0]!r} is written {product[1]}*{product[2]}"
    missing = text.count("(") - text.count(")")
    if missing < 0:
        return f"it has {_counted(-missing)} too many"
    if missing > 0:
        closed = text + ")" * missing
        return f"it lacks {_counted(missing)}{f': write {_short(closed)}' if _well_formed(closed) else ''}"
    return _ACCEPTED


def _counted(closing: int) -> str:
    return "a closing parenthesis" if closing == 1 else f"{closing} closing parentheses"


def _well_formed(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _unknown(kind: str, name: str, text: str) -> str:
    close = nearest_names(name)
    others = set(re.findall(r"[A-Za-z_]\w*", text)) - {name}
    if kind == "name" and (len(name) == 1 or (others and not (close or "z" in others))):
        meant = re.sub(rf"\b{name}\b", "z", text)
        return f"the name {_short(name)} is unknown; the variable is z, " + (
            _EXAMPLE if "z" in others else f"write {_short(meant)}"
        )
    if close:
        known = named_function(close[-1])
        example = f'for example "{known.example}"' if known else _EXAMPLE
        return f"the {kind} {_short(name)} is unknown; perhaps {' or '.join(close)} is meant, {example}"
    return (
        f"the {kind} {_short(name)} is unknown; the variable is z, the constants are pi and e, and the functions are "
        "those of docs/model.md, such as tanh, erf, relu, gelu, sin, sign, exp, he3, Max and where, "
        'for example "tanh(z)"'
    )


# Where a function of a library has another default than the one of its name here (docs/model.md). In PyTorch `nn` has
# classes alone: functions of `nn` are JAX's or Flax's.
_OTHER_DEFAULTS = {
    "flax": {"gelu": "gelu_tanh", "PReLU": "leaky_relu"}, "jax": {"gelu": "gelu_tanh"}, "nn": {"gelu": "gelu_tanh"},
    "keras": {"leaky_relu": "leaky_relu(z, 1/5)", "LeakyReLU": "leaky_relu(z, 3/10)", "PReLU": "relu"},
    "ops": {"gelu": "gelu_tanh", "leaky_relu": "leaky_relu(z, 1/5)"}, "tf": {"leaky_relu": "leaky_relu(z, 1/5)"},
}  # fmt: skip
_OF_NUMBERS = ("Abs", "Heaviside", "Max", "Min")  # of SymPy, with capitals as the layers of PyTorch and Keras
_LIBRARIES = (*_OTHER_DEFAULTS, "F", "functional", "jnp", "math", "np", "numpy", "scipy", "special", "sympy", "torch")


def _of_library(node: ast.expr) -> str:
    """What a name of a library such as torch.nn.GELU or np.tanh is here; empty where it is nothing."""
    if not isinstance(node, ast.Attribute):
        return ""
    path = ast.unparse(node).split(".")
    library = next((one for one in ("ops", "keras", "functional") if one in path), path[0])
    if library not in _LIBRARIES or not (named_function(node.attr) or node.attr in (*_CONSTANTS, "where")):
        return ""
    return _OTHER_DEFAULTS.get(library, {}).get(node.attr, node.attr)


class _Reader:
    """Reads ast nodes into trees; `depth` counts genuine nesting, a chain a + b + c being one level."""

    def __init__(self, text: str, deepest: int) -> None:
        self.text = text
        self.deepest = deepest

    def read(self, node: ast.expr, depth: int) -> Expression:
        if depth > self.deepest:
            raise ExpressionError(f"the expression nests more than {DEEPEST_NESTING} levels deep; {_EXAMPLE}")
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute() if meant := _of_library(node):
                return self.read(ast.parse(meant, mode="eval").body, depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return negate(self.read(operand, depth + 1))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.read(operand, depth + 1)
            case ast.BinOp():
                expr = self._operation(node, depth)
                if isinstance(expr, tree.Number):
                    _check_number(expr.value)
                return expr
            case ast.Call():
                return self._call(node, depth)
        raise ExpressionError(self._refusal(node))

    def _refusal(self, node: ast.expr) -> str:
        kinds: list[tuple[type[ast.expr], str]] = [
            (ast.Attribute, "attribute access"),
            (ast.Compare, "a comparison outside a condition, as in where(z > 0, z, 0),"),
            (ast.Lambda, "a lambda (write its formula alone, in z)"),
            (ast.NamedExpr, "an assignment"),
            (ast.BoolOp, "and/or"),
            (ast.IfExp, "if/else (write where(z > 0, z, 0))"),
            (ast.Subscript, "an index"),
            (ast.Tuple, "a tuple outside Piecewise"),
        ]
        what = next((name for kind, name in kinds if isinstance(node, kind)), "this construction")
        return f"{what} is not part of the language: {self._source(node)}; a formula in z is accepted, {_EXAMPLE}"

    def _source(self, node: ast.AST) -> str:
        return _short(ast.get_source_segment(self.text, node) or self.text)

    def _literal(self, node: ast.Constant) -> Expression:
        if type(node.value) is int:
            return _checked(Fraction(node.value))
        if type(node.value) is float:
            literal = (ast.get_source_segment(self.text, node) or "").replace("_", "")
            found = _DECIMAL.fullmatch(literal)
            if found:
                whole, after, exponent = found.groups()
                shift = int(exponent or 0)
                if abs(shift) > LONGEST_NUMBER:
                    raise ExpressionError(f"the number {_short(literal)} is too large or too small for this language")
                return _checked(Fraction(int(whole + after or "0"), 10 ** len(after)) * Fraction(10) ** shift)
        kind = "True and False are" if isinstance(node.value, bool) else f"{self._source(node)} is"
        raise ExpressionError(f"{kind} not a real number; integers and decimals are accepted, {_EXAMPLE}")

    def _name(self, name: str) -> Expression:
        if name == "z":
            return Z
        if name in _CONSTANTS:
            return tree.Constant(name.lower())
        known = named_function(name)
        if known is not None and stands_alone(name):
            return known.build(Z)
        if known is not None:
            raise ExpressionError(f"the function {name} needs an argument, for example {known.example}")
        if name in CONSTRUCTIONS:
            raise ExpressionError(_WHERE if name == "where" else _PIECEWISE)
        raise ExpressionError(_unknown("name", name, self.text))

    def _operation(self, node: ast.BinOp, depth: int) -> Expression:
        # walk down the left spine: a long sum or product is a loop here, not a recursion
        groups: list[tuple[type[ast.operator], ...]] = [(ast.Add, ast.Sub), (ast.Mult, ast.Div)]
        group = next((g for g in groups if isinstance(node.op, g)), None)
        if group is None:
            return self._power(node, depth)
        spine: list[tuple[ast.operator, ast.expr]] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, group):
            spine.append((left.op, left.right))
            left = left.left
        result = self.read(left, depth + 1)
        pending = [result]
        for op, right_node in reversed(spine):
            right = self.read(right_node, depth + 1)
            if isinstance(op, ast.Add | ast.Sub):
                pending.append(right if isinstance(op, ast.Add) else negate(right))
                continue
            result = multiply(result, right) if isinstance(op, ast.Mult) else divide(result, right)
            if isinstance(result, tree.Number):
                _check_number(result.value)
        return add(*pending) if len(pending) > 1 else result

    def _power(self, node: ast.BinOp, depth: int) -> Expression:
        if not isinstance(node.op, ast.Pow):
            hint = "; a power is written z**2" if isinstance(node.op, ast.BitXor) else ""
            raise ExpressionError(f"the operator in {self._source(node)} is not accepted: use + - * / **{hint}")
        base, exponent = self.read(node.left, depth + 1), self.read(node.right, depth + 1)
        if isinstance(exponent, tree.Number):
            _check_exponent(exponent.value)
            if isinstance(base, tree.Number):
                size = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
                if exponent.value.denominator == 1 and size * abs(exponent.value) > 2 * LONGEST_NUMBER:
                    raise ExpressionError(f"the number {self._source(node)} is too large for this language")
                if base.value == 0 and exponent.value < 0:
                    raise ExpressionError("the expression divides by zero; every denominator must be non-zero")
        return power(base, exponent)

    def _call(self, node: ast.Call, depth: int) -> Expression:
        if meant := _of_library(node.func):
            if len(node.args) == 1 and not (node.keywords or meant.isidentifier()):
                return substitute(parse(meant), self.read(node.args[0], depth + 1))
            node = ast.Call(ast.Name(meant.partition("(")[0]), node.args, node.keywords)
        if not isinstance(node.func, ast.Name) or node.func.id in ("z", *_CONSTANTS):
            first = self._source(node.func)
            if isinstance(node.func, ast.Attribute) and not named_function(node.func.attr):
                raise ExpressionError(_unknown("function", node.func.attr, self.text))
            hint = "a product is written with *, as in 2*(z + 1)" if len(node.args) == 1 else _EXAMPLE
            raise ExpressionError(f"only a function of the language can be called, not {first}; {hint}")
        name = node.func.id
        known = named_function(name)
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            example = f"for example {known.example}" if known else _EXAMPLE
            if name == "gelu" and any(keyword.arg == "approximate" for keyword in node.keywords):
                example = "and the approximation is gelu_tanh(z)"
            raise ExpressionError(f"{name} takes plain arguments without names, {example}")
        if name == "Piecewise":
            return self._piecewise(node, depth)
        if name == "where":
            return self._where(node, depth)
        if known is None:
            raise ExpressionError(_unknown("function", name, self.text))
        args = [self.read(arg, depth + 1) for arg in node.args]
        if args and name[0].isupper() and name not in _OF_NUMBERS and not any(map(tree.depends_on_z, args)):
            example = f"{known.example}" if known.most == 1 else f"{name}(z, {ast.unparse(node.args[0])})"
            raise ExpressionError(f"{name} without z makes a layer, not a value: write {example}")
        if len(args) < known.least or (known.most is not None and len(args) > known.most):
            raise ExpressionError(f"{name} was given {len(args)} arguments; write for example {known.example}")
        return _checked_nodes(known.build(*args))

    def _piecewise(self, node: ast.Call, depth: int) -> Expression:
        pieces: list[tuple[Expression, tree.Condition]] = []
        for pair in node.args:
            if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                raise ExpressionError(_PIECEWISE)
            pieces.append((self.read(pair.elts[0], depth + 1), self._condition(pair.elts[1], depth + 1)))
        if not pieces or pieces[-1][1]:
            raise ExpressionError(_PIECEWISE)
        return piecewise(*pieces)

    def _where(self, node: ast.Call, depth: int) -> Expression:
        if len(node.args) != 3:
            raise ExpressionError(_WHERE)
        condition = self._condition(node.args[0], depth + 1)
        holds, fails = (self.read(value, depth + 1) for value in node.args[1:])
        return piecewise((holds, condition), (fails, tree.ALWAYS))

    def _condition(self, node: ast.expr, depth: int) -> tree.Condition:
        if isinstance(node, ast.Constant) and node.value is True:
            return tree.ALWAYS
        if not isinstance(node, ast.Compare) or any(type(op) not in _COMPARISONS for op in node.ops):
            raise ExpressionError(
                f"the condition {self._source(node)} is not accepted: write a comparison with < <= > >=, a chain, as "
                "in -1 < z < 1, or True"
            )
        sides = [self.read(side, depth + 1) for side in (node.left, *node.comparators)]
        ends = zip(sides, node.ops, sides[1:], strict=False)
        return tuple(tree.Comparison(left, _COMPARISONS[type(op)], right) for left, op, right in ends)


def _checked(value: Fraction) -> tree.Number:
    _check_number(value)
    return tree.Number(value)
