"""The best ridge between its bounds, as the command line answers it."""

from __future__ import annotations
