"""What can go wrong, kind by kind. `faults.kinds.catalogue` has all of them."""
