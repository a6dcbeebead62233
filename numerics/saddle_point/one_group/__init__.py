"""One readout group and the isotropic bulk: one point, many at once, and any number of digits."""
