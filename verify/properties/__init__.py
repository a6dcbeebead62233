"""Properties that hold wherever they are looked at, each searched for a counterexample and seen to fail on a plant."""
