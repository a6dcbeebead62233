"""Several gradient steps by another route: averages by sums over grids, small batches in full, real networks."""
