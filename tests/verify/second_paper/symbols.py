"""Symbols of plain ridge regression y = x.w + noise, x of D independent standard normal coordinates, T samples."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Glossary

TABLE = Glossary()

dimension = TABLE.define("D", "number of coordinates of an input", "D", positive=True)
samples = TABLE.define("T", "number of samples", "Theta(D)", positive=True)
ratio = TABLE.define("a", "T/D, samples per dimension", positive=True)
ridge = TABLE.define("l", "ridge penalty: |y - X w|^2/T + l |w|^2 is minimised", positive=True)
signal = TABLE.define("S", "squared norm of the true weights", positive=True)
noise = TABLE.define("N", "variance of the label noise", positive=True)

effective = TABLE.define("k", "effective ridge: l D^-1 tr G = k/(1 + k) with G = (X^T X/T + l)^-1", positive=True)
trace = TABLE.define("t", "D^-1 tr G", positive=True)
bias = TABLE.define("B", "squared bias of the fitted weights", positive=True)
variance = TABLE.define("V", "variance of the fitted weights", positive=True)
training = TABLE.define("E_t", "mean squared residual on the samples", positive=True)
ridgeless = TABLE.define("E_0", "test error as l -> 0, fewer samples than coordinates", positive=True)
peak = TABLE.define("P", "limit of sqrt(l) V as l -> 0 with as many samples as coordinates", positive=True)
best_ridge = TABLE.define("l_b", "ridge of least test error", positive=True)
excess = TABLE.define("e", "D/T - 1, coordinates beyond the number of samples", positive=True)
large = TABLE.define("L", "a parameter that grows: the inverse of what tends to zero", positive=True)
