"""The command line as `python -m giantsteps`."""

import sys

from giantsteps import main

if __name__ == "__main__":
    sys.exit(main())
