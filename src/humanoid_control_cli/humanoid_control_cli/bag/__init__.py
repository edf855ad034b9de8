"""`hc record`, `hc replay`, `hc view`."""
