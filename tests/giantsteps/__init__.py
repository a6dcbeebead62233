"""Tests of what a user imports and installs: the public face, the wheel, a script."""
