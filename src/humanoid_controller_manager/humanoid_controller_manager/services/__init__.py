"""The services of `ros2 control` and its spawner. Requests on /control_mode do not use them."""
