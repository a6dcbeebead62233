"""Claims, evidence, verdicts, tolerances and their order."""
