"""What an activation is: growth, strips of analyticity, panels and exact roots, from its text."""
