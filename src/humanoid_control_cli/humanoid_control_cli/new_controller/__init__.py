"""`hc new-controller`: a package with a controller, ready to build and run."""
