"""What Cauchy-Schwarz between overlaps of one readout rests on."""

from __future__ import annotations

# One readout a and one unit vector t orthogonal to the spike: u = Pi W^T a/sqrt(p) has q1 = |u|^2 and psi = u.t.
ONE_READOUT = (
    "q1 = |Pi W^T a|^2/p and psi = a.W theta_perp/sqrt(p) of the same readout, with |theta_perp| = 1, at every "
    "dimension; a weak inequality passes to their limits"
)
