"""Claims on the free energy and the saddle point."""
