"""A readout over orthogonal rows, for letters one by one and for any alphabet (equations (158)-(164))."""
