"""Calibrations on real networks: programs beside the samples they measure."""
