"""Another paper on a ledger of its own: ridge regression in the Gaussian covariate model."""
