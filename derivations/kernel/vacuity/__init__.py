"""Whether a theorem says something: asked of what is to be called proved, once of the whole, and of no rule.

`established` makes a theorem again and asks. `existence` asks where the averages in a proof exist (`growth` says where
one does, `formulas` what functions are by the leaves), `conditions` that nothing refutes what it is said under, and
`along` and `far_out` for values at which the assumptions hold, all along its limits. What is overlooked here lets a
theorem be called proved that speaks of nothing; no rule concludes more by it.
"""
