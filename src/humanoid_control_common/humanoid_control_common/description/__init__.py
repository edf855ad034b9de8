"""The links and joints of a robot description: meshes, inertias, input of MuJoCo."""
