"""Stored measurements and what they are judged by."""
