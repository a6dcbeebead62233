"""The best bounds along the spike or the learning rate, with a proof that a minimum is one."""
