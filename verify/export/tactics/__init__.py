"""What Rocq is told of how the conclusion of each rule follows from its premises."""
