"""Short samples of what commands print, as plain text: answers and refusals."""
