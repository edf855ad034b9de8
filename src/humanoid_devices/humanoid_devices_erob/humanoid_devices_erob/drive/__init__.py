"""One eRob drive: registers, CiA 402 states, error codes, gains, joint frame."""
