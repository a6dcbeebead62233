"""Symbols of the Gaussian covariate model.

A teacher sees u in R^p, a student v in R^d, both centred and jointly Gaussian: E[u u^T] = Psi, E[u v^T] = Phi and
E[v v^T] = Omega. The label is t.u/sqrt(p) + sqrt(Delta) noise, the prediction w.v/sqrt(d) with the weights w that
minimise the sum of (label - prediction)^2/2 over the samples, plus lambda |w|^2/2.
"""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Glossary

TABLE = Glossary()

dimension = TABLE.define("d", "number of features of the student", "d", positive=True)
ratio = TABLE.define("alpha", "samples per feature", positive=True)
ridge = TABLE.define("lambda", "ridge penalty", positive=True)
noise = TABLE.define("Delta", "variance of the label noise", positive=True)

teacher = TABLE.define("rho", "second moment of the teacher, t.Psi t/p", positive=True)
overlap = TABLE.define("m", "overlap of teacher and student, t.Phi w/sqrt(p d)")
student = TABLE.define("q", "second moment of the student, w.Omega w/d", positive=True)
rest = TABLE.define("tau", "second moment of what the student does not predict, rho - m^2/q", nonnegative=True)
test = TABLE.define("E_g", "test error: mean square of teacher less prediction", nonnegative=True)
factor = TABLE.define("k", "factor by which the prediction is multiplied")
scaled = TABLE.define("E_k", "test error of the prediction multiplied by k", nonnegative=True)

label = TABLE.define("y", "label of a sample")
unseen = TABLE.define("omega", "prediction for the sample by a fit without it")
seen = TABLE.define("h", "prediction for the sample by the fit with it")
response = TABLE.define("V", "v.(X^T X/d + lambda)^{-1} v/d, the response of the fit to one more sample", positive=True)
leverage = TABLE.define("L", "slope of the prediction for a sample in its label", positive=True)
training = TABLE.define("E_t", "training error: mean square of label less prediction on the samples", nonnegative=True)
