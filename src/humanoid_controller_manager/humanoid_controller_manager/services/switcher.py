"""Execute requests to switch controllers, completely or not at all, and report the result."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Final

from humanoid_control_common.errors import SwitchRefusedError
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.mode_controllers import group_name, member_names
from humanoid_controller_manager.services.interfaces import acting_commands
from humanoid_controller_manager.services.switch_plan import Candidate, Plan, Selection, plan_switch
from humanoid_controller_manager.switching.lifecycle import InExecutor
from humanoid_controller_manager.switching.registry import Record, Registry, claimed_joints
from humanoid_controller_manager.switching.switch_requests import (
    SwitchAnswer,
    SwitchAuthority,
    outcome_of,
)

DEFAULT_TIMEOUT: Final = 1.0  # [s] where a request gives none, as in ros2_control

logger = logging.getLogger(__name__)


class LoopChange:
    """Wakes the one thread that waits for a change in the loop."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._notified = Event()
        self._ended = False

    def notify(self) -> None:
        """Wake the waiting thread, which checks its condition again. From any thread."""
        self._notified.set()

    def end(self) -> None:
        """End all waits: nothing will change any more."""
        self._ended = True
        self._notified.set()

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Return whether `condition` holds within `timeout` [s]."""
        deadline = self._machine.clock() + timeout
        while True:
            self._notified.clear()  # before the check: a later change sets it again
            left = deadline - self._machine.clock()
            if self._ended or condition() or left <= 0.0:
                return condition()
            self._machine.wait(self._notified, left)


@dataclass(frozen=True, slots=True)
class Switcher:
    """Called by one thread, which waits; decisions are made in the executor's."""

    registry: Registry
    loop: ControlLoop
    authority: SwitchAuthority
    in_executor: InExecutor
    change: LoopChange

    def switch(self, selection: Selection, timeout: float) -> str:
        """Carry out `selection` within `timeout` [s], by default 1 s; return the answer's text.

        Raises SwitchRefusedError with the reason; broadcasters are as before then.
        """
        plan, answer = self.in_executor(lambda: self._decide(selection))
        for reason in plan.left_out:
            logger.warning("%s", reason)
        if plan.take_over:
            timeout = timeout if timeout > 0.0 else DEFAULT_TIMEOUT
            self._await(group_name(plan.take_over), answer, timeout)
        self.in_executor(lambda: self._toggle_broadcasters(plan))
        return _answer_text(selection, plan)

    def _decide(self, selection: Selection) -> tuple[Plan, SwitchAnswer]:
        number = self.loop.snapshot.switch_number
        plan = plan_switch(selection, self._candidates(), self._successor())
        self._check_broadcasters(plan)
        if not plan.take_over:
            return plan, SwitchAnswer()
        mode = self.registry.get(plan.take_over[0], "activate").mode
        assert mode is not None  # only mode controllers take over
        answer = self.authority.request_switch(group_name(plan.take_over), mode, number)
        if answer.refusal:
            raise SwitchRefusedError(answer.refusal.text)
        return plan, answer

    def _check_broadcasters(self, plan: Plan) -> None:
        """Raise if `plan` would end a broadcaster in a stiff mode, or on the way to one.

        Gains are set while joint states flow.
        """
        records = self.registry.records
        ending = set(plan.deactivate) - set(plan.activate)
        silent = sorted(name for name in ending if self._is_broadcaster(name))
        coming = (*plan.take_over, *member_names(self.authority.pending_controller()))
        modes = [self.loop.snapshot.mode, *(records[n].mode for n in coming if n in records)]
        stiff = next((mode for mode in modes if mode is not None and mode not in SAFE_MODES), None)
        if silent and stiff is not None:
            raise SwitchRefusedError(
                f"Controller with name '{silent[0]}' can not be deactivated in {stiff.name}: "
                "drives get new gains only while joint states flow. Go to DAMPING first."
            )

    def _await(self, controller: str, answer: SwitchAnswer, timeout: float) -> None:
        def outcome() -> str | None:
            refusal = self.authority.refusal
            if refusal is not None and refusal.ticket == answer.ticket:
                return refusal.reason.text
            return outcome_of(self.loop.snapshot, answer.ticket, controller)

        if not self.change.wait_for(lambda: outcome() is not None, timeout):
            raise SwitchRefusedError(
                f"Switch controller timed out after {timeout:g} seconds! "
                f"'{controller}' may take over yet."
            )
        failure = outcome()
        if failure:
            raise SwitchRefusedError(
                f"Failed switching controllers....\n"
                f"Unable to activate controllers: [ {' '.join(member_names(controller))} ]: "
                f"{failure}"
            )

    def _toggle_broadcasters(self, plan: Plan) -> None:
        self._check_broadcasters(plan)  # a stiff mode may have been requested meanwhile
        on = [name for name in plan.activate if self._is_broadcaster(name)]
        off = [name for name in plan.deactivate if self._is_broadcaster(name)]
        if on or off:
            self.registry.broadcast(on, off)

    def _is_broadcaster(self, name: str) -> bool:
        record = self.registry.records.get(name)
        return record is not None and record.mode is None

    def _candidates(self) -> dict[str, Candidate]:
        return {
            name: Candidate(self.registry.state(record), self._claims(record), record.mode.name)
            if record.mode is not None
            else Candidate(self.registry.state(record))
            for name, record in self.registry.records.items()
        }

    def _claims(self, record: Record) -> tuple[str, ...]:
        """Return the command interfaces that a mode controller claims once it is active."""
        hardware = self.loop.hardware
        joints = claimed_joints(record, hardware.joints)
        columns = hardware.capabilities[:, hardware.joints.indices(joints)]
        # Also a joint that no actuator moves has one controller.
        return (*acting_commands(joints, columns), *(f"{joint}/position" for joint in joints))

    def _successor(self) -> str:
        """Return the safe controller after the one in charge; empty if it is the last."""
        chain = self.registry.safe_chain
        in_charge = self.registry.in_charge()[0]
        after = chain[chain.index(in_charge) + 1 :] if in_charge in chain else chain
        return after[0] if after else ""


def _answer_text(selection: Selection, plan: Plan) -> str:
    """Return what was done, in ros2_control's words."""
    if not (plan.activate or plan.deactivate):
        return "After checking the controllers, no controllers need to be activated or deactivated."
    lines = ["Successfully switched controllers!"]
    if plan.follows:
        lines.append(f"'{plan.take_over[0]}' is in charge now: one mode controller always is.")
    if not selection.strict:
        if plan.deactivate:
            lines.append(f"Deactivated controllers: [ {' '.join(plan.deactivate)} ]")
        if plan.activate:
            lines.append(f"Activated controllers: [ {' '.join(plan.activate)} ]")
    return "\n".join(lines)
