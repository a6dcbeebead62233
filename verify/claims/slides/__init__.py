"""Claims of the slides, errata and coverage."""
