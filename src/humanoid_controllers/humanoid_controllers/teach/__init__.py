"""Hand-guiding of the joints."""
