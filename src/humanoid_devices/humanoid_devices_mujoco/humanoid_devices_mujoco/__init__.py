"""The robot in MuJoCo, as a hardware component of the control loop."""
