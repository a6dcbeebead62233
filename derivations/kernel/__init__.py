"""The kernel: theorems that inference rules alone can make, and that can be made again from their leaves.

Read it in this order: `statements` (what is said, and on which assumptions), `terms` (symbols, signs, derivatives),
`rational` (the one normal form), `theorem` (what a theorem is, and `replay`), `algebra`, `inequalities`, `averages`,
`limits` and `calculus` (the rules), `conditions` and `functions` (where conclusions hold, and what functions are by
their leaves). Whoever looks for a proof may use any means; what counts is the theorem that comes out of the rules.
"""
