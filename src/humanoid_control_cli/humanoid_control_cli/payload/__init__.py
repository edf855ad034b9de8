"""`hc payload`: what the links of a running robot carry."""
