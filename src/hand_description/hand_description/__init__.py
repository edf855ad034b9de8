"""The robot Hand as URDF; the files are in `urdf/` and `config/`."""
