"""Kinds of faults. `fault_campaign.kinds.catalogue` has all of them."""
