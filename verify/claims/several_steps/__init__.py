"""Claims on several gradient steps."""
