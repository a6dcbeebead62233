"""The command line: options, requests, problems, workers."""
