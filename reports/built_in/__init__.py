"""The pages of the built-in paper, arXiv 2402.04980: its texts, results, studies, and what is measured of its code."""
