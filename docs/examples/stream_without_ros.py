"""Sway Prime's left elbow in REMOTE without ROS, with DDS only: `pip install cyclonedds`.

Before: `hc up mujoco` and `hc mode remote`, as for raise_an_elbow.py. ROS_DOMAIN_ID and
ROS_AUTOMATIC_DISCOVERY_RANGE have the same effect as for ROS. At the end of the stream REMOTE
damps the joints.
"""

import math
import os
import time

from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

SECONDS, PERIOD, SWING = 5.0, 0.02, 0.3  # [s], [s], [rad]
LOCAL = """<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
</General><Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32
</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery>"""


def message(package, kind, /, **fields):
    """Return the DDS type of a ROS message; the order of its fields matters."""
    return make_idl_struct(kind, f"{package}::msg::dds_::{kind}_", fields)


texts, numbers = types.sequence[str], types.sequence[types.float64]
motion = {"position": numbers, "velocity": numbers, "effort": numbers}
Time = message("builtin_interfaces", "Time", sec=types.int32, nanosec=types.uint32)
Header = message("std_msgs", "Header", stamp=Time, frame_id=str)
State = message("sensor_msgs", "JointState", header=Header, name=texts, **motion)
command = {"header": Header, "joint_names": texts, **motion, "stiffness": numbers}
Command = message("humanoid_control_msgs", "MITCommand", **command, damping=numbers)

number = int(os.environ.get("ROS_DOMAIN_ID", "0"))
local = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") == "LOCALHOST"  # the default of env.sh
domain = Domain(number, f"<CycloneDDS><Domain>{LOCAL if local else ''}</Domain></CycloneDDS>")
robot = DomainParticipant(number)
states = DataReader(robot, Topic(robot, "rt/prime/joint_states", State))
commands = DataWriter(robot, Topic(robot, "rt/remote_policy_controller/command", Command))
state = next(states.take_iter(timeout=10 * 10**9))  # [ns]
begin, zeros = time.time(), [0.0] * len(state.name)
while (now := time.time()) < begin + SECONDS:
    target = list(state.position)
    target[state.name.index("left_elbow_pitch")] -= SWING * math.sin(now - begin) ** 2
    stamp = Header(Time(int(now), int(now % 1 * 1e9)), "")  # for the latency on /diagnostics
    gains = [20.0] * len(zeros), [2.0] * len(zeros)
    commands.write(Command(stamp, state.name, target, zeros, zeros, *gains))
    time.sleep(PERIOD)
