"""A process beside the control process: disables motors without a watchdog when that stands still.

    `Guard`, in the control process: starts the other one, and feeds it in every tick
    `Vigil`, in the guard process (python -m humanoid_devices_can.guard): is it still fed?
    between them
        `GuardPage`: memory that both of them see
        `GuardJob`: what to do, through a pipe that then carries a good-bye, or ends without one
        `claim`: the bus is taken until both of them are gone

When the feeding or the control process ends without a good-bye the guard opens the bus itself and
disables the motors (`disable_motors`). It can do nothing if the computer or the adapter fails.
"""
