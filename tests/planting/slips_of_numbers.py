"""Slips in what computes: the expression language, activations, balls, certificates, estimates and sweeps."""

from __future__ import annotations

from tests.planting.slip import Slip

_PARSER, _ALGEBRA = "derivations/expressions/parser.py", "derivations/expressions/algebra.py"
_EXACT = "tests/derivations/expressions/test_exact_evaluation.py"
_DRAWN = f"{_EXACT}::test_a_drawn_text_means_what_python_reads_in_it"
_BIND = f"{_EXACT}::test_signs_powers_and_exponents_bind_as_in_python"

_ACTIVATION = "derivations/activations/activation.py"
_ANY_ACTIVATION_TEST = "tests/numerics/bulk/test_any_activation.py"
_BATCH = "numerics/saddle_point/one_group/batch.py"
_ERROR_ESTIMATE_TEST = "tests/numerics/saddle_point/test_error_estimate.py"
_EXPRESSIONS_TEST = "tests/derivations/expressions/test_expressions.py"
_FINITE_WIDTH = "numerics/saddle_point/finite_width.py"
_GROWTH = "derivations/activations/growth.py"
_MAP_UNCERTAINTY_TEST = "tests/numerics/saddle_point/test_map_uncertainty.py"
_LOCAL = "derivations/activations/local_exponents.py"
_LOCAL_TEST = "tests/derivations/activations/test_local_exponents.py"
_INTEGRATED = "test_where_the_square_of_the_slope_can_be_integrated"
_NETWORK_BATCH_TEST = "tests/numerics/saddle_point/one_group/test_network_batch.py"
_NETWORK_CONSTANTS = "numerics/bulk/network_constants.py"
_NETWORK_CONSTANTS_TEST = "tests/numerics/bulk/test_network_constants.py"
_NETWORK_EQUATIONS = "numerics/saddle_point/one_group/network_equations.py"
_NETWORK_GAINS = "numerics/saddle_point/one_group/network_gains.py"
_NETWORK_LAW = "numerics/bulk/network_law.py"
_NORMAL = "derivations/expressions/normal_form.py"
_NORMAL_TEST = "tests/derivations/expressions/test_normal_form.py"
_ALMOST = "test_what_is_the_same_almost_everywhere"
_PANELS = "derivations/activations/panels.py"
_PIECEWISE_FACTS_TEST = "tests/derivations/activations/test_piecewise_facts.py"
_RIDGE = "numerics/saddle_point/ridge.py"

# fmt: off
LANGUAGE = (
    # From the fourth term on; a sign that is carried on; a quotient behind a product.
    Slip(_PARSER, "for op, right_node in reversed(spine):", "for op, right_node in reversed(spine[-3:]):",
         _BIND),
    Slip(_PARSER, "pending.append(right if isinstance(op, ast.Add) else negate(right))",
         "pending.append(right if isinstance(op, ast.Add) or len(pending) > 3 else negate(right))", _DRAWN),
    Slip(_PARSER, "if isinstance(op, ast.Mult) else divide(result, right)",
         "if isinstance(op, ast.Mult) else divide(right, result)", _BIND),
    Slip(_PARSER, 'Fraction(int(whole + after or "0"), 10 ** len(after))', 'Fraction(float(whole + "." + after))',
         _DRAWN),
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
    Slip(_ALGEBRA, 'if collected.get(tree.Constant("e"), 1) != 1:', 'if collected.get(tree.Constant("e"), 1) > 2:',
         f"{_EXPRESSIONS_TEST}::test_canonical_text_parses_back_to_the_same_tree"),
)

# Parity, joins and growth of piecewise functions.
ACTIVATIONS = (
    Slip(_ACTIVATION, "for place, opposite in zip(ends, reversed(ends), strict=True):",
         "for place, opposite in zip(ends[1:], reversed(ends), strict=False):",
         f"{_PIECEWISE_FACTS_TEST}::test_the_parity_of_a_mirrored_piecewise_function"),
    Slip(_ACTIVATION, "if not _mirrored_places(place, opposite):",
         "if order(place, opposite) > 0 and not _mirrored_places(place, opposite):",
         f"{_PIECEWISE_FACTS_TEST}::test_a_cut_without_its_mirror_image_is_seen_between_the_two"),
    Slip(_ACTIVATION, "values |= {(a + b) / 2 for a, b in pairwise(ends)}", "values |= set(ends) - {Fraction(0)}",
         f"{_PIECEWISE_FACTS_TEST}::test_the_parity_of_a_mirrored_piecewise_function"),
    Slip(_ACTIVATION, "odd_refuted |= here.low > -there.low or here.high < -there.high",
         "odd_refuted |= here.low > there.low or here.high < there.high",
         f"{_PIECEWISE_FACTS_TEST}::test_a_parity_that_is_hard_to_see_is_undecided_or_right"),
    Slip(_ACTIVATION, "kink = root or difference_sign(slopes, place) != 0", "kink = True",
         f"{_PIECEWISE_FACTS_TEST}::test_joins_are_what_the_values_and_slopes_beside_them_say"),
    Slip(_ACTIVATION, "return before.right.kinds | after.left.kinds",
         "return after.left.kinds",
         "tests/derivations/activations/test_activation.py::test_a_root_that_ends_is_one_from_either_side"),
    Slip(_ACTIVATION, "return functools.reduce(Growth.either, bounds)", "return bounds[0]",
         f"{_PIECEWISE_FACTS_TEST}::test_growth_is_that_of_the_piece_that_grows_most"),
    Slip(_ACTIVATION, "return functools.reduce(Growth.either, bounds)", "return bounds[-1]",
         f"{_PIECEWISE_FACTS_TEST}::test_growth_is_that_of_the_piece_that_grows_most"),
    Slip(_PANELS, "return power(call(\"Abs\", base.base), number(q * exponent)) if even else expr", "return expr",
         "tests/derivations/activations/test_activation.py::test_a_root_of_a_square_is_an_absolute_value"),
    Slip("derivations/activations/locations.py", "if len(simple) < len(polynomial):",
         "if len(simple) > len(polynomial):",
         "tests/derivations/activations/test_activation.py::test_a_multiple_root_is_where_it_is"),
    Slip(_LOCAL, "if self.slope > _HALF:", "if self.slope >= _HALF:", f"{_LOCAL_TEST}::{_INTEGRATED}"),
    Slip(_LOCAL, "slope = 2 * inner.slope if steep == 0 else inner.slope", "slope = inner.slope",
         f"{_LOCAL_TEST}::{_INTEGRATED}"),
    Slip(_LOCAL, "return _integrated(expr, place, slope, inner.sloped and steep in (1, -1))",
         "return _integrated(expr, place, slope, inner.sloped)", f"{_LOCAL_TEST}::{_INTEGRATED}"),
    Slip(_LOCAL, "slopes = [f.slope + size - f.size for f in factors]", "slopes = [f.slope + size for f in factors]",
         f"{_LOCAL_TEST}::{_INTEGRATED}"),
    Slip(_LOCAL, "if not enclose(base, panel_interval(panel)).positive():",
         "if enclose(base, panel_interval(panel)).negative():",
         f"{_LOCAL_TEST}::test_what_stands_in_the_way_of_a_square_integrable_slope"),
    Slip(_NORMAL, "return 2 - exponent % 2", "return exponent % 2", f"{_NORMAL_TEST}::{_ALMOST}"),
    Slip(_NORMAL, "elif zero_on_null_set(gap):", "elif gap is not None:", f"{_NORMAL_TEST}::{_ALMOST}"),
    Slip(_NORMAL, "return name not in _STEPS and _scattered(argument)", "return _scattered(argument) or name in _STEPS",
         f"{_NORMAL_TEST}::test_what_is_plainly_zero_on_a_null_set"),
    Slip(_NORMAL, "factors.append(number(int(c.op in (\">=\", \"<=\"))))",
         "factors.append(number(int(c.op == \">=\")))",
         f"{_NORMAL_TEST}::{_ALMOST}"),
    Slip("numerics/bounds/ridge.py", "return found if best > found.error + _ROUNDINGS * (1.0 + abs(found.error)) else",
         "return found if best > 0.0 else",
         "tests/numerics/bounds/test_ridge.py::test_a_polished_minimum_is_known_beyond_the_root_of_rounding"),
    Slip("numerics/bounds/ridge.py", "(0.15, 0.1), 1e-5, 8, 1e-15", "(1.5, 1.0), 1e-5, 8, 1e-15",
         "tests/numerics/bounds/test_ridge.py::test_a_polished_minimum_is_known_beyond_the_root_of_rounding"),
    Slip(_PANELS, "left = _nearer(left, parts[k][positions[k]].left)", "pass",
         "tests/derivations/activations/test_activation.py::test_a_root_that_ends_is_one_from_either_side"),
    Slip(_PANELS, "left = functools.reduce(_nearer, [part[0].left for part in parts])", "left = parts[0][0].left",
         "tests/derivations/activations/test_activation.py::test_a_root_that_ends_is_one_from_either_side"),
    Slip(_PANELS, "            left = _nearer(left, cut)", "            pass",
         "tests/derivations/activations/test_activation.py::test_a_jump_where_the_argument_has_its_corner_is_one"),
    Slip(_PANELS, "result.append(Panel(a, b, branch(_sign_inside(u, a, b))))",
         "result.append(Panel(a, b, branch(_sign_inside(u, a, b) if b is not None else -_sign_inside(u, left, a))))",
         f"{_PIECEWISE_FACTS_TEST}::test_what_vanishes_twice_does_not_break"),
    Slip(_GROWTH, "max(self.degree, other.degree),", "min(self.degree, other.degree),",
         f"{_PIECEWISE_FACTS_TEST}::test_growth_is_that_of_the_piece_that_grows_most"),
    Slip(_GROWTH, "return Growth(max(self.constant, other.constant), both.degree,",
         "return Growth(self.constant, both.degree,",
         f"{_PIECEWISE_FACTS_TEST}::test_growth_is_that_of_the_piece_that_grows_most"),
)


# Estimates that are a share of what they should be.
ESTIMATES = (
    Slip(_RIDGE, "error_estimate=moved + fine.rounding,", "error_estimate=0.5 * (moved + fine.rounding),",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_RIDGE, "error_estimate=moved + fine.rounding,", "error_estimate=max(moved, fine.rounding),",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_RIDGE, "before, moved = moved, abs(fine.test_error - coarse.test_error)",
         "before, moved = moved, 0.5 * abs(fine.test_error - coarse.test_error)",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_FINITE_WIDTH, "before, moved = moved, abs(found.test_error - last)",
         "before, moved = moved, 0.5 * abs(found.test_error - last)",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_BATCH, "moved + rows[10]), strict=True))", "moved), strict=True))",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_BATCH, "moved[pending] = np.abs(finer[0] - rows[0, pending])",
         "moved[pending] = 0.5 * np.abs(finer[0] - rows[0, pending])",
         f"{_ERROR_ESTIMATE_TEST}::test_an_estimate_is_the_last_move_and_the_rounding_in_full"),
    Slip(_RIDGE, "moved += mapped\n", "moved += 0.5 * mapped\n",
         f"{_MAP_UNCERTAINTY_TEST}::test_every_answer_carries_the_uncertainty_of_its_model"),
    Slip(_RIDGE, "moved += table.unresolved * scale", "moved += 0.5 * table.unresolved * scale",
         f"{_ERROR_ESTIMATE_TEST}::test_what_is_left_of_inner_integrals_is_in_every_estimate"),
)

# What is constant, and what is smaller than it is known to.
CONSTANTS = (
    Slip(_NETWORK_CONSTANTS, "left += ROUNDING + (0.0 if none else line_error / math.sqrt(sizes[0]))",
         "left += ROUNDING + line_error / math.sqrt(sizes[0])",
         f"{_ANY_ACTIVATION_TEST}::test_a_constant_activation_learns_nothing_of_an_odd_target"),
    Slip(_NETWORK_CONSTANTS, "line = (0.0, 0.0) if none else (constants.h1, curvature)",
         "line = (constants.h1, curvature)",
         f"{_ANY_ACTIVATION_TEST}::test_a_constant_activation_learns_nothing_of_an_odd_target"),
    Slip("verify/properties/themes/language.py", 'if function.parity == "neither":', 'if function.parity == "nothing":',
         "tests/verify/properties/test_properties.py::test_a_function_with_a_parity_is_not_neither"),
)

# Slopes without a part of the chain rule, a force of one function alone, families that share no law.
NETWORK_BATCHES = (
    Slip(_NETWORK_EQUATIONS, "by_gain[0] += at.x", "by_gain[0] += 0.0",
         f"{_NETWORK_BATCH_TEST}::test_a_batch_is_its_points"),
    Slip(_NETWORK_EQUATIONS, "overlap = by_C * spread + x * x * bent", "overlap = by_C * spread",
         f"{_NETWORK_BATCH_TEST}::test_a_batch_is_its_points"),
    Slip(_NETWORK_EQUATIONS, "held = (1.0 + a, b), (c, 1.0 + d)", "held = (1.0 + a, c), (b, 1.0 + d)",
         f"{_NETWORK_BATCH_TEST}::test_a_batch_is_its_points"),
    Slip(_NETWORK_CONSTANTS, "_apart(coarse.first, fine.first, np.sqrt(fine.moments[[2, 4, 6]]))",
         "_apart(coarse.first, fine.first, np.zeros(3))",
         f"{_ANY_ACTIVATION_TEST}::test_targets_of_either_parity_are_solved"),
    Slip(_NETWORK_CONSTANTS, "size = max(1, _AT_ONCE // max(1, len(b1)))", "size = len(self.nodes)",
         f"{_ANY_ACTIVATION_TEST}::test_averages_at_many_places_take_no_memory_for_every_node"),
    Slip(_NETWORK_LAW, "return BulkLaw(bulk, 1.0, rule, along, perpendicular, nothing, nothing, variance, root=0.0)",
         "return BulkLaw(bulk - 1.0, 1.0, rule, along, perpendicular, nothing, nothing, variance)",
         f"{_NETWORK_BATCH_TEST}::test_the_unit_of_weights_does_not_matter"),
    Slip(_NETWORK_GAINS, "found[numbers == number] = tail / ROUNDING", "found[:] = tail / ROUNDING",
         f"{_NETWORK_BATCH_TEST}::test_what_a_point_loses_does_not_depend_on_other_points"),
    Slip(_NETWORK_GAINS, "by_g = -g * np.stack(", "by_g = g * np.stack(",
         f"{_NETWORK_BATCH_TEST}::test_the_functions_of_the_gain_are_those_of_the_bulk"),
    Slip(_NETWORK_GAINS, "found[1] * (np.exp(-place) * self.law.bulk)", "found[1] / g",
         f"{_NETWORK_BATCH_TEST}::test_the_functions_of_the_gain_for_an_isotropic_bulk"),
    Slip(_NETWORK_GAINS, "np.maximum(np.log(g * self.law.bulk), _LEAST)", "np.maximum(np.log(g), _LEAST)",
         f"{_NETWORK_BATCH_TEST}::test_the_unit_of_weights_does_not_matter"),
    Slip(_BATCH, "law = (model.network_step, model.beta, model.noise) if", "law = () if",
         f"{_NETWORK_BATCH_TEST}::test_families_of_a_sweep_share_a_law"),
)

# Bounds that forget a term, the box of another question, what is kept for too many.
NETWORK_BOUNDS = (
    Slip(_NETWORK_CONSTANTS, "(constants.errors.curvature if curvature else 0.0)", "0.0",
         f"{_NETWORK_CONSTANTS_TEST}::test_an_error_of_the_line_counts_in_units_of_what_is_left"),
    Slip(_NETWORK_CONSTANTS, "left**1.5 + ROUNDING", "left**2 + ROUNDING",
         f"{_NETWORK_CONSTANTS_TEST}::test_the_error_of_labels_is_the_power_of_what_a_finer_rule_moved"),
    Slip(_NETWORK_GAINS, "left = float(shares[0])", "left = 0.0",
         "tests/numerics/saddle_point/one_group/test_network_gains.py::test_what_is_lost_is_the_tail_of_f_in_roundings"),
)

# fmt: on

OF_NUMBERS: tuple[Slip, ...] = (
    *LANGUAGE,
    *ACTIVATIONS,
    *ESTIMATES,
    *CONSTANTS,
    *NETWORK_BATCHES,
    *NETWORK_BOUNDS,
)
