"""Random slips in the source, and the tests that notice them."""
