"""How pages and parts hang together: the parts of the theory, what rests on what, its drawing, and links."""
