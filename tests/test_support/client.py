"""An operator that also records the writes to joints and drives."""

from humanoid_control_msgs.msg import ImpedanceState, MITCommand, SafetyStatus

from test_support.operator import LATCHED, Operator, Participation


class Client(Operator):
    """An operator that also records the writes to joints and drives."""

    def __init__(self, own: Participation) -> None:
        super().__init__(own)
        self.commands: list[MITCommand] = []
        self.impedance: list[ImpedanceState] = []
        self.listen(MITCommand, "/prime/joint_commands", self.commands.append)
        self.listen(ImpedanceState, "/erob_impedance_manager/state", self.impedance.append)
        self._safety = self.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)

    def confirmed(self) -> ImpedanceState:
        """Return the first state of the impedance manager that confirms the mode in force."""

        def found() -> bool:
            if not (self.impedance and self.statements):
                return False
            state, now = self.impedance[-1], self.now
            in_force = (state.mode, state.switch_number) == (now.mode, now.switch_number)
            return bool(state.confirmed and in_force)

        self.until(found, "the impedance to be confirmed")
        return self.impedance[-1]

    def enter(self, mode: int) -> None:
        """Reach `mode`, before and after which the impedance is confirmed."""
        self.confirmed()
        self.reach(mode)
        self.confirmed()

    def report(self, level: int, message: str) -> None:
        """Publish the safety status of a source of our own."""
        self._safety.publish(SafetyStatus(level=level, source="bench", message=message))
