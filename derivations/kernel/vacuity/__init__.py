"""Whether a theorem says something: asked of what is to be called proved, once of the whole, and of no rule.

`established` makes a theorem again and asks. `existence` asks where the averages in a proof exist (`growth` says where
one does, `formulas` what the assumptions say of functions), `conditions` that nothing refutes the conditions, and
`along` and `far_out` for values at which the assumptions hold, all along its limits. What is overlooked here lets a
theorem be called proved that speaks of nothing; no rule concludes more by it.
"""
