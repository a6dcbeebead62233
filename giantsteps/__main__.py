"""The command line as `python -m giantsteps`."""

import sys

from giantsteps import main

sys.exit(main())
