"""The topic `~/state` of a controller that reports its progress."""

from humanoid_control_msgs.msg import StandbyState

from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.ros.plugin_context import PluginContext


def publish_progress(context: PluginContext) -> SnapshotListener:
    """Publish StandbyState on `~/state`, latched, while the node's controller is in charge."""
    states = context.node.create_publisher(StandbyState, "~/state", LATCHED)
    name = context.node.get_name()

    def publish(snapshot: Snapshot) -> None:
        progress = snapshot.progress
        if snapshot.controller != name or progress is None:
            return
        message = StandbyState(
            current_segment=progress.current_segment,
            total_segments=progress.total_segments,
            progress=progress.fraction,
            is_finished=progress.finished,
        )
        message.header.stamp = context.stamp(snapshot)
        states.publish(message)

    return publish
