"""What a policy observes."""
