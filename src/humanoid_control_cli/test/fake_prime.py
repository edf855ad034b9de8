"""The interfaces of a real robot in ZERO_TORQUE that `hc calibrate` uses.

Usage: fake_prime.py URDF [manager|manager_later|remote]; manager_later starts when a joint is limp.
With `remote` it has a REMOTE controller, to which a command too short was sent.

The wrists, and a drive with gate 1 and no position gain, are moved between both stops again and
again, as by a hand. TRUTH has the mountings of all joints. A line on stdout reports that a drive
has become limp, or that its gate is closed.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import ControlMode, ImpedanceState, SdoObject, SdoResult
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.utilities import get_rmw_implementation_identifier
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_bringup.calibration.robot import read_robot
from humanoid_control_common.middleware.fastdds_tuning import tune_middleware
from humanoid_controller_manager.ros.topics.diagnostics import diagnostic_array
from humanoid_controllers.remote_report import RemoteReport

TRUTH = (-1, 0.3)  # direction and offset
POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
PERIOD = 50  # ticks from one stop to the other and back, with a rest at each
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Prime:
    def __init__(self, node: Node, urdf: str) -> None:
        self.node, self.robot = node, read_robot(urdf)
        drives = range(len(self.robot.drives))
        factory = {POSITION: 1000, VELOCITY: 270, INTEGRAL: 20, (0x2382, 3): 0x4000, GATE: 0}
        self.registers = [dict(factory) for _ in drives]
        self.tick = 0
        self.states = node.create_publisher(JointState, "/prime/joint_states", 10)
        self.modes = node.create_publisher(ControlMode, "/control_mode", 10)
        node.create_service(ReadSdoBatch, "/erob/read_sdo_batch", self.read)
        node.create_service(WriteSdoBatch, "/erob/write_sdo_batch", self.write)
        node.create_timer(0.02, self.step)
        if "remote" in sys.argv:
            self.report = RemoteReport(lambda: 1)
            self.report.received(time.monotonic())
            self.report.received(time.monotonic(), "expected 14 values each, found: damping (13)")
            self.diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
            node.create_timer(0.1, self.diagnose)

    def diagnose(self) -> None:
        diagnosis = self.report.due("not in charge", time.monotonic())
        if diagnosis is not None:
            stamp = self.node.get_clock().now().to_msg()
            self.diagnostics.publish(diagnostic_array(stamp, [diagnosis]))

    def step(self) -> None:
        self.tick += 1
        mode = ControlMode(controller_name="zero_torque_controller", switch_number=3)
        if "stiff" in sys.argv:
            mode.mode, mode.controller_name = ControlMode.STANDBY, "standby_controller"
        stamp = time.time_ns()
        mode.header.stamp.sec, mode.header.stamp.nanosec = divmod(stamp, 10**9)
        self.modes.publish(mode)
        names = self.robot.joints.names
        positions = [self.published(i, name) for i, name in enumerate(names)]
        self.states.publish(JointState(name=list(names), position=positions))

    def published(self, place: int, name: str) -> float:
        limits = self.robot.limits[name]
        true = 0.0
        if name in self.robot.loose or self.is_limp(name):
            phase = self.tick % PERIOD / PERIOD
            part = min(max(4 * abs(phase - 0.5) - 0.5, 0.0), 1.0)
            true = limits.low + part * limits.width
        raw = TRUTH[0] * true + TRUTH[1]
        in_force = self.robot.in_force
        return float(in_force.direction[place] * (raw - in_force.homing_offset[place]))

    def is_limp(self, name: str) -> bool:
        registers = self.registers[self.robot.drives[name].slave]
        return registers[GATE] == 1 and registers[POSITION] == 0

    def start_manager(self) -> None:
        self.node.create_publisher(ImpedanceState, "/erob_impedance_manager/state", 1)

    def read(
        self, request: ReadSdoBatch.Request, response: ReadSdoBatch.Response
    ) -> ReadSdoBatch.Response:
        response.results = [self.result(item) for item in request.objects]
        return response

    def write(
        self, request: WriteSdoBatch.Request, response: WriteSdoBatch.Response
    ) -> WriteSdoBatch.Response:
        limp = self.limp_slaves()
        for item in request.objects:
            key, value = (item.index, item.subindex), int.from_bytes(bytes(item.data), "little")
            self.registers[item.slave][key] = value
            if key == GATE and value == 0:
                self.tell(item.slave)
        for slave in self.limp_slaves() - limp:
            self.tell(slave)
            if "manager_later" in sys.argv:
                self.start_manager()
        return self.read(request, response)

    def limp_slaves(self) -> set[int]:
        return {it.slave for name, it in self.robot.drives.items() if self.is_limp(name)}

    def tell(self, slave: int) -> None:
        registers = self.registers[slave]
        sys.stdout.write(f"gate {slave} {registers[GATE]} {registers}\n")
        sys.stdout.flush()

    def result(self, item: SdoObject) -> SdoResult:
        value = self.registers[item.slave][item.index, item.subindex]
        item.data = list(value.to_bytes(4, "little"))
        return SdoResult(object=item, status=SdoResult.DONE)


def main() -> None:
    tune_middleware(get_rmw_implementation_identifier())
    rclpy.init()
    node = rclpy.create_node("mode_manager")
    urdf = Path(sys.argv[1]).read_text()
    prime = Prime(node, urdf)
    if "manager" in sys.argv:
        prime.start_manager()
    description = node.create_publisher(String, "/robot_description", LATCHED)
    description.publish(String(data=urdf))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    sys.stdout.write("serving\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()
