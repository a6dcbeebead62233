"""The command line as `python -m onestep`."""

import sys

from onestep import main

sys.exit(main())
