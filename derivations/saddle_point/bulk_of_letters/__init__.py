"""What given rows make of a readout that starts from letters: isotropic rows, orthogonal ones, and any alphabet."""
