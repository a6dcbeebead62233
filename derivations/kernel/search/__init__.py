"""Search for proofs. Nothing here is trusted: every theorem it returns was made by the rules.

`assumptions` starts a derivation, `steps` adds a line, `averages` evaluates averages, `goals` works back from the goal.
"""
