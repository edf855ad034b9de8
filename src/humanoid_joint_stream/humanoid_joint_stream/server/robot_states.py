"""The states of the robot from the tick recorder's memory, serialized once for all readers."""

from typing import Any, Final

from humanoid_control_common.tick_records.record_file import RecordFile
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Status
from humanoid_joint_stream.server.session import Session
from humanoid_joint_stream.server.state_hub import NumberedState, kept

STATE_RATE: Final = 333.0  # [Hz] of the states by default, where the loop is faster


def default_decimation(update_rate: float) -> int:
    """Return how many ticks lie between two states by default."""
    return max(1, round(update_rate / STATE_RATE))


class RobotStates:
    """Reads new ticks: the joints that the stream commands, in its order. Called by one thread."""

    def __init__(self, record: RecordFile, session: Session) -> None:
        self.record = record
        self._session = session
        recorded = record.facts.joints
        self._rows = [recorded.index(name) for name in session.file.facts.joints]
        self._most = kept(record.facts.wall_period)
        self._nominal = record.facts.wall_period * 1e9  # [ns]
        self._before = 0  # [ns] time of the tick before the newest
        self._number = 0

    def fresh(self) -> list[NumberedState]:
        """Return the State messages of ticks that are new since the last call, the latest few."""
        last = self.record.words[Word.TICKS]
        first = max(self._number + 1, last - self._most + 1) if self._number else last
        found = []
        for number in range(max(1, first), last + 1):
            slots = self.record.ticks
            tick = slots[(number - 1) % len(slots)].copy()
            if tick["begin"] == number == tick["end"]:  # else it was overwritten meanwhile
                message = self._message(tick, number).SerializeToString()
                found.append(NumberedState(number, message))
                self._number = number
        return found

    def _message(self, tick: Any, number: int) -> Any:
        time = int(tick["monotonic"])
        neighbours = number == self._number + 1 and self._nominal > 0.0
        late = neighbours and time - self._before > 1.5 * self._nominal
        self._before = time
        last, report = self._session.last_update, self._session.file.report()
        position, velocity, load = tick["state"][:, self._rows].tolist()
        message = pb.State(
            acquired=time,
            position=position,
            velocity=velocity,
            load=load,
            tick=int(tick["tick"]),
            execution=report.execution,
            late_tick=late,
            overruns=int(tick["overruns"]),
        )
        echo = message.last_command
        echo.user_command_key = last.key
        echo.received = last.received
        echo.status = last.status
        echo.message = last.message
        echo.short_horizon = last.short_horizon
        echo.applied_key = report.applied_key
        echo.applied = report.applied_time
        echo.position_clipped = bool(report.position_clipped)
        echo.load_clipped = bool(report.load_clipped)
        if last.status is Status.UNKNOWN:
            message.ClearField("last_command")
        return message
