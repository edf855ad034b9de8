"""The robot in MuJoCo as a hardware component."""
