"""MoveIt's configuration of Prime: files only."""
