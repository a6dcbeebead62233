"""`python -m benchmarks.networks`: see `benchmarks.networks.trials`."""

import sys

# What worker processes are given has to be of a module that they can import, and __main__ is another one there.
from benchmarks.networks.trials import main

if __name__ == "__main__":
    main(*sys.argv[1:])
