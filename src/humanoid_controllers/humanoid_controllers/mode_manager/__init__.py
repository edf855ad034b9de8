"""The mode manager: requests, rules, stop sources, and statements on /control_mode."""
