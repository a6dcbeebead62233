"""A campaign of command lines and certificates that nobody chose: `make fuzz`."""
