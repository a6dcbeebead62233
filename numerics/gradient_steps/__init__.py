"""Several gradient steps: what a fresh batch sees, and the recursion of spike, alignment and bulk."""
