"""`hc move` and `hc jog`: motions of joints by a trajectory controller."""
