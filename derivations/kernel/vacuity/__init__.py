"""Whether a theorem says something: asked of what is to be called proved, once of the whole, and of no rule.

`established` makes a theorem again and asks. `existence` asks that what its proof averages has an average, and what it
names the slope of something a slope; `conditions` that nothing refutes its conditions; `along` and `far_out` for values
at which its assumptions hold, all along its limits. `formulas` says what functions are by the leaves.
"""
