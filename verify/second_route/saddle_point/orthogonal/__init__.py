"""Numbers for the orthogonal bulk of Appendix D: a vocabulary of two letters, and one of as many as neurons."""
