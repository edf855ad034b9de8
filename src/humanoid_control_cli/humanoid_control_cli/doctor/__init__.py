"""`hc doctor`: what of this machine is ready for the robot, and how to get the rest."""
