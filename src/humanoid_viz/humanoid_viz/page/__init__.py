"""The page in the browser: scene, panel and access control."""
