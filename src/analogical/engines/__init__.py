"""Tables that lie elsewhere, in a database or on a cluster: what is the same for all of them."""
