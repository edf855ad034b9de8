"""Hand-guiding: `hc mode teach`."""
