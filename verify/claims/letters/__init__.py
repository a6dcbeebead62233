"""Claims on several letters, many letters and several directions."""
