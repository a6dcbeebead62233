"""Formulas, sentences, anchors and files: what pages and commands are written with."""
