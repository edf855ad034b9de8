"""ROS interface of a MujocoSystem: /clock and a reset service."""

from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.plugin_context import PluginContext, SnapshotListener
from humanoid_devices_mujoco.mujoco_system import MujocoSystem

RESET_SERVICE = "mujoco/reset"


def attach(context: PluginContext, system: MujocoSystem) -> SnapshotListener:
    """Publish /clock with every snapshot; offer /mujoco/reset (Trigger) in the safe modes."""
    clock = context.node.create_publisher(Clock, "clock", 1)
    mode: Mode | None = None  # of the latest snapshot

    def reset(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        # A stiff controller would pull the joints from their initial pose to its target at once.
        response.success = mode in SAFE_MODES
        if response.success:
            system.request_reset()
            response.message = "the simulation starts again from its initial pose in the next tick"
        else:
            found = "no tick yet" if mode is None else f"currently {mode.name}"
            response.message = f"requires ZERO_TORQUE or DAMPING ({found})"
        return response

    def publish(snapshot: Snapshot) -> None:
        nonlocal mode
        mode = snapshot.mode
        clock.publish(Clock(clock=context.stamp(snapshot)))

    context.node.create_service(Trigger, RESET_SERVICE, reset)
    return publish
