"""The services of `ros2 control` and its spawner. No request on /control_mode passes here."""
