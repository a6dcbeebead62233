"""The solver's numbers at the points of claims, by the names of the theory's symbols: what is compared, fetched."""
