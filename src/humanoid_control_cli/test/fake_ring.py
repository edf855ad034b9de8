"""The interfaces of a control process with a ring that `hc sdo` uses: statements and SDO batches.

The mode is DAMPING. Slaves 0 and 1 have the objects below; slave 2 refuses, slave 3 aborts, slave 4
does not answer, and slave 5 reads another value back. A write with a mode or number not in force is
refused.
"""

import sys
import time
from contextlib import suppress

import rclpy
from humanoid_control_msgs.msg import ControlMode, SdoObject, SdoResult
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.middleware.fastdds_tuning import tune_middleware

MODE, NUMBER = ControlMode.DAMPING, 7
OBJECTS = {
    (0x603F, 0): b"\x00\xa0",
    (0x1008, 0): b"eRob 70\0",
    (0x2381, 1): (56).to_bytes(4, "little"),
    (0x3000, 0): b"\x05\x00",
}
FAILURES = {
    2: (SdoResult.REFUSED, 0, "slave 2 is in SAFEOP"),
    3: (SdoResult.ABORTED, 0x06090030, ""),
    4: (SdoResult.TIMED_OUT, 0, ""),
    5: (SdoResult.DIFFERENT, 0, ""),
}


class Ring:
    def __init__(self) -> None:
        self.objects = {slave: dict(OBJECTS) for slave in (0, 1)}

    def read(
        self, request: ReadSdoBatch.Request, response: ReadSdoBatch.Response
    ) -> ReadSdoBatch.Response:
        response.results = [self._result(one) for one in request.objects]
        return response

    def write(
        self, request: WriteSdoBatch.Request, response: WriteSdoBatch.Response
    ) -> WriteSdoBatch.Response:
        in_force = (request.mode, request.switch_number) == (MODE, NUMBER)
        if not in_force or request.valid_until <= time.monotonic():
            response.message = "mode or number not in force"
            return response
        for one in request.objects:
            if one.slave in self.objects:
                self.objects[one.slave][one.index, one.subindex] = bytes(one.data)
        return self.read(request, response)

    def _result(self, one: SdoObject) -> SdoResult:
        if one.slave in FAILURES:
            status, code, message = FAILURES[one.slave]
            return SdoResult(object=one, status=status, abort_code=code, message=message)
        data = self.objects[one.slave].get((one.index, one.subindex))
        if data is None:
            return SdoResult(object=one, status=SdoResult.ABORTED, abort_code=0x06020000)
        one.data = list(data)
        return SdoResult(object=one, status=SdoResult.DONE)


def main() -> None:
    tune_middleware(get_rmw_implementation_identifier())
    rclpy.init()
    node = rclpy.create_node("mode_manager")
    ring = Ring()
    statements = node.create_publisher(ControlMode, "/control_mode", 10)
    statement = ControlMode(mode=MODE, controller_name="damping_controller", switch_number=NUMBER)
    node.create_timer(0.02, lambda: statements.publish(statement))
    if "without_ring" not in sys.argv:
        node.create_service(ReadSdoBatch, "/erob/read_sdo_batch", ring.read)
        node.create_service(WriteSdoBatch, "/erob/write_sdo_batch", ring.write)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    sys.stdout.write("serving\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()
