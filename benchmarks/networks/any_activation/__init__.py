"""Networks of any activation on trial, and what is stored of them."""
