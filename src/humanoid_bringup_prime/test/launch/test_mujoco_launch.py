"""mujoco.launch.py: the simulated robot through its modes, ended as by Ctrl-C."""

import unittest
import uuid

import launch_testing
from humanoid_control_msgs.msg import ControlMode
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch_ros.substitutions import FindPackageShare
from launch_testing.actions import ReadyToTest
from test_support.operator import Operator, Participant, running_with

from launch import LaunchDescription

FILE = [FindPackageShare("humanoid_bringup_prime"), "/launch/mujoco.launch.py"]
MARK = f"HUMANOID_LAUNCH_TEST={uuid.uuid4()}"


def generate_test_description():
    chosen = {"viewer": "false", "real_time_factor": "5", "initial_mode": "damping"}
    robot = IncludeLaunchDescription(FILE, launch_arguments=chosen.items())
    return LaunchDescription([SetEnvironmentVariable(*MARK.split("=")), robot, ReadyToTest()])


class WhileItRuns(unittest.TestCase):
    def test_the_arms_come_to_the_ready_pose_and_the_simulation_can_be_reset(self):
        with Operator(Participant()) as operator:
            operator.connect()
            self.assertEqual(operator.now.mode, ControlMode.DAMPING)
            operator.reach(ControlMode.STANDBY)
            operator.finish_standby()
            state = operator.joint_states[-1]
            position = dict(zip(state.name, state.position, strict=True))
            self.assertLess(position["left_elbow_pitch"], -0.4)
            self.assertFalse(operator.call("/mujoco/reset").success)  # it is stiff
            operator.reach(ControlMode.DAMPING)
            self.assertTrue(operator.call("/mujoco/reset").success)


@launch_testing.post_shutdown_test()
class AfterTheEnd(unittest.TestCase):
    def test_every_process_has_ended_in_order(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
        names = sorted(name.split("-")[0] for name in proc_info.process_names())
        self.assertEqual(names, ["black_box", "control"])
        self.assertEqual(running_with(MARK), [])
