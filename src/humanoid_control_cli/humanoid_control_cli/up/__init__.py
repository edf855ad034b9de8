"""`hc up`: bring a robot up."""
