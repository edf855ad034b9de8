"""The observation of a policy, computed from its terms."""
