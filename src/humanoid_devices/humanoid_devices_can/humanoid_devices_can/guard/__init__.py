"""A process that disables motors without a watchdog when the control process stands still.

    `Guard`, in the control process: starts the guard process and feeds it in every tick
    `guard`, in the guard process (python -m humanoid_devices_can.guard): checks the feeding
    between them
        `GuardProcess`: starts and ends the guard process
        `GuardMemory`: memory that both processes see
        `GuardJob`: what to do; sent through a pipe that ends with a good-bye, or without one
        `claim`: reserves the bus until both processes have ended

When the feeding stops, or the control process ends without a good-bye, the guard opens the bus
itself and disables the motors (`disable_motors`), as far as their frames show it (`Observation`).
The loop does not feed it either while the adapter is lost: the guard acts when it is back. It can't
help if the computer fails.
"""
