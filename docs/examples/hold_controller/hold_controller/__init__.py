"""A controller of one's own, in a package of one's own."""
