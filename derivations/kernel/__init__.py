"""The proof kernel: theorems that only its inference rules can make, and that can be replayed from their assumptions.

Read it in this order: `statements` (what is said, and on which assumptions), `terms` (symbols, signs, derivatives),
`rational` (the one normal form), `conditions` (names and what they rest on), `theorem` (what a theorem is, and
`replay`), `algebra`, `inequalities`, `averages`, `limits` and `calculus` (the rules). That is all that makes theorems.

Whether a theorem says something is another question, which a verdict asks of the whole proof: `vacuity`. And whoever
looks for a proof may use any means, some of which are in `search`: what counts is what comes out of the rules.
"""
