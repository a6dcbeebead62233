"""The paper's figures: what the sources print of their settings, networks that were simulated, what the text says."""
