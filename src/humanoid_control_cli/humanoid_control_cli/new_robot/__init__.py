"""`hc new-robot`: a package that brings up a robot from CAD, in simulation and as a mock."""
