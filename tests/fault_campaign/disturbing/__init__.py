"""Disturbances of the machine and of messages; defects of the stack that the judge must find."""
