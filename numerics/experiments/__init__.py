"""Experiments at finite size: ensembles, readouts, what they measure."""
