"""The commands that record what a robot says, and say it again."""
