"""mock.launch.py: modes by topic and by service, ended as by Ctrl-C."""

import unittest
import uuid

import launch_testing
from humanoid_control_msgs.msg import ControlMode
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch_ros.substitutions import FindPackageShare
from launch_testing.actions import ReadyToTest
from test_support.operator import Operator, Participant, running_with

from launch import LaunchDescription

FILE = [FindPackageShare("humanoid_bringup_prime"), "/launch/mock.launch.py"]
MARK = f"HUMANOID_LAUNCH_TEST={uuid.uuid4()}"


def generate_test_description():
    robot = IncludeLaunchDescription(FILE, launch_arguments=[("viewer", "false")])
    return LaunchDescription([SetEnvironmentVariable(*MARK.split("=")), robot, ReadyToTest()])


class WhileItRuns(unittest.TestCase):
    def test_modes_follow_requests_on_the_topic_and_by_service(self):
        with Operator(Participant()) as operator:
            operator.connect()
            self.assertEqual(operator.now.mode, ControlMode.ZERO_TORQUE)
            self.assertFalse(operator.call("/humanoid_control/mode/load").success)
            operator.reach(ControlMode.DAMPING)
            operator.reach(ControlMode.STANDBY)
            operator.finish_standby()
            self.assertTrue(operator.call("/humanoid_control/mode/damp").success)
            operator.until(lambda: operator.now.mode == ControlMode.DAMPING, "DAMPING")


@launch_testing.post_shutdown_test()
class AfterTheEnd(unittest.TestCase):
    def test_every_process_has_ended_in_order(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
        names = sorted(name.split("-")[0] for name in proc_info.process_names())
        self.assertEqual(names, ["black_box", "control"])
        self.assertEqual(running_with(MARK), [])
