"""The mode manager: requests, rules, stop sources, and what is stated on /control_mode."""
