"""`hc payload`: the payloads of the links of a running robot."""
