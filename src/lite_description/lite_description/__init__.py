"""The robot Lite as URDF; the files are in `urdf/` and `config/`."""
