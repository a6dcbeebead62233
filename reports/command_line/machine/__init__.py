"""What the machine gives a command: workers, clusters, memory, time."""
