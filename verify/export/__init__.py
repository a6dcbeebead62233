"""Theorems of the kernel for a second kernel, Rocq, and what that kernel says of them."""
