"""twin.launch.py: the real bring-up on both buses, which must end before the virtual robot."""

import unittest
import uuid

import launch_testing
from humanoid_control_msgs.msg import ControlMode
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch_ros.substitutions import FindPackageShare
from launch_testing.actions import ReadyToTest
from test_support.operator import Operator, Participant, running_with

from humanoid_control_common.machine.rights import RAW_ETHERNET, held_capabilities
from launch import LaunchDescription

FILE = [FindPackageShare("humanoid_bringup_prime"), "/launch/twin.launch.py"]
MARK = f"HUMANOID_LAUNCH_TEST={uuid.uuid4()}"
SKIPPED = (
    ""
    if held_capabilities().issuperset(RAW_ETHERNET)
    else "the virtual cable needs root, or the rights"
)


def generate_test_description():
    robot = IncludeLaunchDescription(FILE, launch_arguments=[("viewer", "false")])
    return LaunchDescription([SetEnvironmentVariable(*MARK.split("=")), robot, ReadyToTest()])


@unittest.skipIf(SKIPPED, SKIPPED)
class WhileItRuns(unittest.TestCase):
    def test_operator_reaches_standby_on_both_buses(self):
        with Operator(Participant()) as operator:
            operator.connect()
            self.assertEqual(len(operator.joint_states[-1].name), 14)
            operator.reach(ControlMode.DAMPING)
            operator.reach(ControlMode.STANDBY)
            operator.until(lambda: operator.standby, "progress of STANDBY")


@launch_testing.post_shutdown_test()
class AfterTheEnd(unittest.TestCase):
    def test_every_process_has_ended_in_order(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        names = sorted(name.split("-")[0] for name in proc_info.process_names())
        self.assertEqual(names, ["black_box", "control", "impedance", "robot", "truth"])
        text = "".join(output.text.decode() for output in proc_output)
        self.assertIn("powering down: DAMPING", text)
        self.assertIn("all joints are without torque", text)
        self.assertEqual(text.count("powering down: "), 1, f"a step of the way failed:\n{text}")
        self.assertEqual(running_with(MARK), [])
