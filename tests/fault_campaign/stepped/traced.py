"""One trial with its files: frames, messages, truth, and a time line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from rcl_interfaces.msg import Log

from fault_campaign.campaign import Entry
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Act, Kind, Scene
from fault_campaign.robot import Robot
from fault_campaign.stepped.prepared import Prepared, adapter_of, tried
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.messages import LOGGER
from humanoid_recording.trial_files import TrialEventType, TrialFiles
from humanoid_stepped.scheduler import NANO
from humanoid_stepped.stepped_machine import BOOT, EPOCH
from humanoid_stepped.trace_files import TraceFiles

_LEVELS: Final = {
    TrialEventType.FALL: Log.ERROR,
    TrialEventType.KNOWN: Log.WARN,
    TrialEventType.VIOLATION: Log.ERROR,
}
# Violations found during the recovery, after the window that the judge reads.
_LATER: Final = {
    ViolationType.REFUSED,
    ViolationType.NOT_WELL,
    ViolationType.DIED,
    ViolationType.TRACEBACK,
    ViolationType.DID_NOT_END,
    ViolationType.LOST,
}


def traced(trials: Sequence[tuple[Kind, int]], folder: Path) -> Iterator[Entry]:
    """Run one trial of a kind and a seed in this process; write its files into `folder`.

    Raises:
        BagError, RobotError: the files cannot be written.
    """
    ((kind, seed),) = trials
    with TemporaryDirectory(prefix="hc_trials_") as own:
        adapter = adapter_of(kind, seed)
        robot = Robot(Path(own), joints=kind.robot, adapter=adapter)
        prepared = Prepared.of(kind, seed)
        if prepared is not None:
            prepared.prepare(robot)
        with TraceFiles(robot.stepped, TrialFiles(folder)) as files:
            line = TimeLine(files)
            robot.stepped.bus.listeners.append(line.hear)
            entry = tried(robot, line.told(kind), seed)
            line.conclude(entry)
    yield entry


class TimeLine:
    """Writes the lines about the trial into its bag."""

    def __init__(self, files: TraceFiles) -> None:
        self._files = files
        self._mode: int | None = None
        self._fallen = False
        self._fault = ""  # text
        self._began: int | None = None  # [ns since 1970] the fault

    def hear(self, topic: str, message: Any) -> None:
        """Note a new mode, and a fall."""
        if topic != "/control_mode" or not message.controller_name:
            return
        fallen = FELL_TO_SAFETY.name in message.reason_codes
        if (message.mode, fallen) == (self._mode, self._fallen):
            return
        fell = fallen and not self._fallen
        self._mode, self._fallen = message.mode, fallen
        if fell:
            self._say(
                TrialEventType.FALL, message.status_message, codes=tuple(message.reason_codes)
            )
        else:
            known = message.mode in set(Mode)  # a forged statement may have any value
            self._say(TrialEventType.MODE, Mode(message.mode).name if known else f"{message.mode}")

    def told(self, kind: Kind) -> Kind:
        """Return the kind, which now notes the beginning and the end of its fault."""

        def drawn(dice: Random) -> Kind:
            assert kind.drawn is not None
            return self.told(kind.drawn(dice))

        return replace(
            kind,
            inject=self._begins(kind),
            mend=self._ends(kind.mend),
            drawn=None if kind.drawn is None else drawn,
        )

    def conclude(self, entry: Entry) -> None:
        """Write the results of the trial."""
        result, verdict = entry.result, entry.result.verdict
        ended = round(result.end * NANO) - BOOT + EPOCH
        wrong = [(TrialEventType.KNOWN, it) for it in result.known]
        wrong += [(TrialEventType.VIOLATION, it) for it in entry.news]
        for event_type, it in wrong:
            self._say(event_type, str(it), self._date(it, ended))
        if self._began is None:
            return
        if verdict is not None and verdict.softened is not None:
            softened = EPOCH + round((verdict.counted_from + verdict.softened) * NANO)
            after = f"{(softened - self._began) / 1e6:.0f} ms after the fault"
            self._say(TrialEventType.SOFT, f"no joint is stiff, {after}", softened)
        for text in (self._fault, *(f"{event_type}: {it}" for event_type, it in wrong)):
            self._files.say(LOGGER, Log.ERROR, Reason(text), stamp=self._began)

    def _begins(self, kind: Kind) -> Act:
        def inject(scene: Scene) -> None:
            start, joint = scene.scenario.start.value, scene.joint
            self._fault, self._began = f"{kind.name} ({start}, {joint})", self._files.now
            self._say(TrialEventType.FAULT, self._fault)
            kind.inject(scene)

        return inject

    def _ends(self, mend: Act) -> Act:
        def told(scene: Scene) -> None:
            self._say(TrialEventType.MENDED, "the fault ends")
            mend(scene)

        return told

    def _date(self, violation: Violation, ended: int) -> int:
        """Return the time of the violation [ns since 1970], or `ended`, or the present time."""
        if violation.at is not None:
            return EPOCH + round(violation.at * NANO)
        return self._files.now if violation.type in _LATER else ended

    def _say(
        self,
        event_type: TrialEventType,
        text: str,
        date: int | None = None,
        codes: tuple[str, ...] = (),
    ) -> None:
        level = _LEVELS.get(event_type, Log.INFO)
        self._files.say(event_type.logger, level, Reason(text, codes), date)
