"""The figures of the report and of sweeps."""
