"""The ledger: run, written down, compared."""
