"""Record friction maps: moves a joint and measures which effort its friction takes."""
