"""The programs that measure the samples of the studies."""
