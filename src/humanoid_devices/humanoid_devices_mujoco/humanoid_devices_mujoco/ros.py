"""What a MujocoSystem is in ROS: the clock, and a service that resets it."""

from __future__ import annotations

from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from humanoid_controller_manager.ros_host import RosHost, SnapshotListener
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_devices_mujoco.mujoco_system import MujocoSystem

RESET_SERVICE = "/mujoco/reset"


def attach(host: RosHost, system: MujocoSystem) -> SnapshotListener:
    """Offer /mujoco/reset (std_srvs/Trigger) and publish /clock with every snapshot told."""
    clock = host.node.create_publisher(Clock, "/clock", 1)

    def reset(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        system.request_reset()
        response.success = True
        response.message = "the simulation starts again from its initial pose in the next tick"
        return response

    def publish(snapshot: Snapshot) -> None:
        clock.publish(Clock(clock=host.stamp(snapshot)))

    host.node.create_service(Trigger, RESET_SERVICE, reset)
    return publish
