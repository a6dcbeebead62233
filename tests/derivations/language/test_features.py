"""What a readout sees at given kappa, against an output written out in its own normal variables, and its symmetries."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import sympy as sp

from giantsteps.derivations.bulk import network as one_letter_network
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.features import Features
from giantsteps.derivations.saddle_point import network as network_of_letters
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.derivations.saddle_point.directions import SEVERAL
from giantsteps.derivations.saddle_point.letter_energy import VOCABULARY

_q = sp.Rational
LETTERS, HERE = (0, 1), range(4)
# Two neurons of each letter: weights, rows along two directions, along theta_perp, elsewhere, what norms are off by.
LETTER_OF = (0, 0, 1, 1)
WEIGHT = (_q(3, 2), -1, 2, _q(1, 2))
ALONG = ((2, 1, -1, 4), (-1, 3, _q(1, 2), 1))
TARGET, ELSEWHERE, NORM = (_q(1, 3), 2, -1, 1), (-2, _q(1, 2), 3, 1), (1, -3, 2, _q(-1, 2))
KAPPA = (_q(1, 2), _q(-2, 3))
MU0, MU1, MU2, K2 = (3, -1), (2, _q(5, 3)), (1, -4), (_q(1, 7), 2)
# The label is y0 + y1 z + c (z^2 - 1) and noise.
Y0, Y1, CURVE, NOISE = 2, _q(-3, 4), _q(1, 3), _q(1, 5)
# What a readout answers by: V is the sum of G_ij Cov(phi_i, phi_j).
RESPONSE = [[_q(1, 1 + i + j) for j in HERE] for i in HERE]
NAMES = ("fit", "signal", "q", "V", "weight", "e2")


def numbers() -> Features:
    """The functions and the overlaps of these neurons."""
    own = [[i for i in HERE if LETTER_OF[i] == a] for a in LETTERS]
    products = [[WEIGHT[i] * WEIGHT[j] for j in HERE] for i in HERE]

    def overlap(row: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
        return tuple(sum(WEIGHT[i] * row[i] for i in own[a]) for a in LETTERS)

    def blocks(of: list[list[sp.Expr]]) -> tuple[tuple[sp.Expr, ...], ...]:
        rows = [[TARGET[i] * TARGET[j] + ELSEWHERE[i] * ELSEWHERE[j] for j in HERE] for i in HERE]
        return tuple(
            tuple(sum(of[i][j] * rows[i][j] for i in own[a] for j in own[b]) for b in LETTERS) for a in LETTERS
        )

    def alone(of: list[list[sp.Expr]]) -> tuple[sp.Expr, ...]:
        return tuple(sum(of[i][i] for i in own[a]) for a in LETTERS)

    return Features(
        kappa=KAPPA,
        mu0=MU0,
        mu1=MU1,
        mu2=MU2,
        m=overlap((1, 1, 1, 1)),
        zeta=tuple(zip(*map(overlap, ALONG), strict=True)),
        psi=overlap(TARGET),
        q1=blocks(products),
        q2=alone(products),
        V1=blocks(RESPONSE),
        V2=alone(RESPONSE),
        label=(Y0, Y1, Y0**2 + Y1**2 + 2 * CURVE**2 + NOISE),
        norms=tuple(zip(K2, overlap(NORM), strict=True)),
    )


def written_out() -> dict[str, sp.Expr]:
    """The same from every neuron: the mean of its feature, and the coefficients of z, of w and of the neurons' xi."""
    means, normals = [], []
    for i, a in enumerate(LETTER_OF):
        means.append(MU0[a] + MU1[a] * (KAPPA[0] * ALONG[0][i] + KAPPA[1] * ALONG[1][i]) + K2[a] * NORM[i])
        normals.append((MU1[a] * TARGET[i], MU1[a] * ELSEWHERE[i], *(MU2[a] if k == i else 0 for k in HERE)))
    fit = sum(WEIGHT[i] * means[i] for i in HERE)
    along_z, *rest = (sum(WEIGHT[i] * normals[i][k] for i in HERE) for k in range(6))
    V = sum(RESPONSE[i][j] * normals[i][k] * normals[j][k] for i, j, k in product(HERE, HERE, range(6)))
    squares = sum(x**2 for x in rest)
    error = (Y0 - fit) ** 2 + (Y1 - along_z) ** 2 + squares + 2 * CURVE**2 + NOISE
    return dict(zip(NAMES, (fit, along_z, along_z**2 + squares, V, 1 / (1 + V), error), strict=True))


def read(features: Features) -> dict[str, sp.Expr]:
    """What follows from the features."""
    return {name: sp.expand(getattr(features, name)) for name in NAMES}


def test_an_output_of_two_letters_and_two_directions_written_out() -> None:
    found, expected = numbers(), written_out()
    assert read(found) == expected
    assert found.error == expected["e2"] - s.noise
    assert found.e2_of(sp.S.Zero) == found.label[2] - 2 * Y1 * found.signal + found.q


def test_letters_that_are_equal_are_one() -> None:
    for features in (VOCABULARY, network_of_letters.NETWORK):
        alike = replace(
            features,
            mu0=2 * ONE_LETTER.mu0,
            mu1=2 * ONE_LETTER.mu1,
            mu2=2 * ONE_LETTER.mu2,
            norms=tuple((one_letter_network.third, overlap) for _, overlap in features.norms),
        )
        merged = replace(
            ONE_LETTER,
            m=(sum(alike.m),),
            zeta=((sum(overlap for (overlap,) in alike.zeta),),),
            psi=(sum(alike.psi),),
            q1=((sum(sum(row) for row in alike.q1),),),
            q2=(sum(alike.q2),),
            V1=((sum(sum(row) for row in alike.V1),),),
            V2=(sum(alike.V2),),
            norms=tuple((one_letter_network.third, sum(chi for _, chi in alike.norms)) for _ in alike.norms[:1]),
        )
        assert [sp.expand(getattr(alike, name) - getattr(merged, name)) for name in NAMES if name != "weight"] == [
            0
        ] * 5
        assert sp.expand(1 / alike.weight - 1 / merged.weight) == 0


def test_directions_turn_together() -> None:
    turn = sp.Matrix([[_q(3, 5), _q(4, 5)], [_q(-4, 5), _q(3, 5)]])
    (zeta,) = SEVERAL.zeta
    turned = replace(SEVERAL, kappa=tuple(turn * sp.Matrix(SEVERAL.kappa)), zeta=(tuple(turn * sp.Matrix(zeta)),))
    assert [sp.expand(getattr(turned, name) - getattr(SEVERAL, name)) for name in ("fit", "e2")] == [0, 0]


def test_directions_are_one_along_what_the_readout_sees() -> None:
    # zeta = |zeta| (3, 4)/5 sees kappa = (3 kappa_1 + 4 kappa_2)/5 alone.
    unit = (_q(3, 5), _q(4, 5))
    along = replace(SEVERAL, zeta=(tuple(s.zeta * x for x in unit),))
    seen = sp.Add(*(x * kappa for x, kappa in zip(unit, SEVERAL.kappa, strict=True)))
    one = replace(SEVERAL, kappa=(seen,), zeta=((s.zeta,),))
    assert [sp.expand(getattr(along, name) - getattr(one, name)) for name in ("fit", "e2")] == [0, 0]
    assert replace(along, zeta=((s.zeta, sp.S.Zero),)).fit == replace(one, kappa=SEVERAL.kappa[:1]).fit


def test_every_letter_has_all_that_a_letter_has() -> None:
    norms = network_of_letters.NETWORK.norms
    for short in (
        {"mu1": VOCABULARY.mu1[:1]}, {"psi": s_saddle.psi_of[:1]}, {"zeta": ((s.zeta, s.zeta),) * 2},
        {"m": (*s_saddle.m_of, s.m)}, {"norms": norms[:1]}, {"norms": norms * 2},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="zip"):
            _ = replace(VOCABULARY, **short).e2
