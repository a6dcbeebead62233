"""Finding proofs. No truth rests on what is here: whatever it does, what comes out was made by the rules.

`leaves` is where a derivation begins, `steps` its next line, `averages` works averages out, and `goals` goes back from
what is wanted to what is known.
"""
