"""Sweeps over grids of models: described, run, stored."""
