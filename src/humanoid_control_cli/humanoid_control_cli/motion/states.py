"""The states of the trajectory controllers: their topics, and their texts."""

from typing import Final

from humanoid_control_msgs.msg import TrajectoryState
from rclpy.node import Node

STATE: Final = "state"  # the topic, below the name of its controller
TYPE: Final = "humanoid_control_msgs/msg/TrajectoryState"
WORDS: Final = {
    TrajectoryState.HOLDING: "no goal",
    TrajectoryState.ACTIVE: "moves",
    TrajectoryState.SUCCEEDED: "done",
    TrajectoryState.CANCELED: "stopped",
    TrajectoryState.PREEMPTED: "another motion took its place",
    TrajectoryState.PATH_TOLERANCE_VIOLATED: "too far from the way",
    TrajectoryState.GOAL_TOLERANCE_VIOLATED: "the goal is not reached",
    TrajectoryState.ENDED: "ended",
    TrajectoryState.OVERTAKEN: "not begun",
    TrajectoryState.LINKS_TOO_NEAR: "stopped before links touch",
}


def trajectory_controllers(node: Node) -> list[str]:
    """Return the names of the trajectory controllers that `node` sees in its namespace."""
    home = node.get_namespace().rstrip("/") + "/"
    topics = node.get_topic_names_and_types()
    names = [name for name, types in topics if TYPE in types and name.startswith(home)]
    return sorted(name.removeprefix(home).removesuffix(f"/{STATE}") for name in names)


def in_words(state: TrajectoryState) -> str:
    """Return what a trajectory controller does, and why it refused the latest request if it did."""
    goal = f"goal {state.goal}: " if state.goal else ""
    text = f"{goal}{WORDS[state.status]}"
    if state.status == TrajectoryState.ACTIVE:
        text += f", {state.time:.1f} of {state.duration:.1f} s"
    if state.message:
        text += f": {state.message}"
    return f"{text}; refused since: {state.refusal}" if state.refusal else text
