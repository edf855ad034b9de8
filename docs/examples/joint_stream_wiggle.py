"""Wiggle one joint after the other, over the joint stream, on asyncio: no ROS needed.

First `hc up mujoco --joint-stream`, `hc mode damp`, `hc mode standby --wait`.
Usage: joint_stream_wiggle.py [SECONDS of each joint]
"""

import asyncio
import math
import sys

from humanoid_joint_client import AsyncJointClient

AMPLITUDE = 0.05  # [rad]
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


async def main() -> None:
    """Move each joint through one period of a sine, and print how far it moved."""
    async with AsyncJointClient() as client:
        states = client.states()
        start = (await anext(states)).position
        async with client.control() as control:
            for joint, name in enumerate(client.config.names):
                begin, moved = client.plain.robot_time(), 0.0
                async for state in states:
                    elapsed = (state.arrived - begin) * 1e-9
                    moved = max(moved, abs(state.position[joint] - start[joint]))
                    if elapsed > seconds:
                        break
                    target = start.copy()
                    target[joint] += AMPLITUDE * math.sin(2.0 * math.pi * elapsed / seconds)
                    control.send(target)
                print(f"{name}: {moved:.3f} rad")


asyncio.run(main())
