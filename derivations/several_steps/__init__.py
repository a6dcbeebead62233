"""Several gradient steps on fresh batches: what one step makes of spike, alignment and bulk, and what follows."""
