"""The bus keeps its rules under random actions of its nodes."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_twin.can.bus import TX_QUEUE, VirtualCanBus
from humanoid_twin.can.controller import ErrorState
from humanoid_twin.can.frame import CanFrame

NODES = 4
node = st.integers(0, NODES - 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("send"), node, st.integers(0, 7)),
        st.tuples(st.just("send"), node, st.integers(0, 7)),
        st.tuples(st.just("power"), node, st.booleans()),
        st.tuples(st.just("rate"), node, st.sampled_from([500_000, 1_000_000])),
        st.tuples(st.just("listen"), node, st.booleans()),
        st.tuples(st.just("bus off"), node, st.none()),
        st.tuples(st.just("restart"), node, st.none()),
        st.tuples(st.just("corrupt"), node, st.integers(0, 40)),
        st.tuples(st.just("run"), node, st.sampled_from([1_000, 60_000, 300_000, 20_000_000])),
    ),
    max_size=60,
)


class History:
    def __init__(self) -> None:
        self.bus = VirtualCanBus()
        self.sent = 0
        self.got = defaultdict(list)  # receiver: (sender, number)
        self.nodes = [
            self.bus.attach(self.receiver(index), restarts=index % 2 == 0) for index in range(NODES)
        ]

    def receiver(self, index):
        def receive(frame: CanFrame, now: int) -> None:
            assert now == self.bus.now
            self.got[index].append((frame.data[0], int.from_bytes(frame.data[1:], "big")))

        return receive

    def do(self, action, index, value) -> None:
        controller = self.nodes[index]
        if action == "send":
            self.sent += 1
            data = bytes([index]) + self.sent.to_bytes(3, "big")
            controller.send(CanFrame(value, data), self.bus.now)
        elif action == "power":
            controller.set(powered=value)
        elif action == "rate":
            controller.set(bitrate=value)
        elif action == "listen":
            controller.set(listens_only=value)
        elif action == "bus off":
            controller.go_bus_off(self.bus.now)
        elif action == "restart":
            controller.restart()
        elif action == "corrupt":
            self.bus.disturbance.corrupt_next = value
        else:
            self.bus.run(self.bus.now + value)
            assert self.bus.next_event > self.bus.now

    def check(self) -> None:
        counters = self.bus.settled_counters()
        assert counters.busy <= self.bus.now + 1_000_000
        for controller in self.nodes:
            assert 0 <= controller.tec <= 263
            assert 0 <= controller.rec <= 255
            assert controller.waiting <= TX_QUEUE
            assert controller.on_bus == (
                controller.powered and controller.state is not ErrorState.BUS_OFF
            )
            if controller.state is ErrorState.ACTIVE:
                assert max(controller.tec, controller.rec) < 96
            if controller.state is ErrorState.BUS_OFF:
                assert controller.tec >= 256
        for frames in self.got.values():
            assert len(set(frames)) == len(frames)
            for sender in range(NODES):
                numbers = [number for can_id, number in frames if can_id == sender]
                assert numbers == sorted(numbers)


@given(steps)
@settings(max_examples=150)
def test_counters_keep_their_bounds_and_frames_their_order_and_come_once(actions):
    history = History()
    for action in actions:
        history.do(*action)
        history.check()


@given(steps)
@settings(max_examples=60)
def test_bus_recovers_from_any_history_after_repair(actions):
    history = History()
    for action in actions:
        history.do(*action)
    history.bus.disturbance.corrupt_next = 0
    for controller in history.nodes:
        controller.set(powered=False, bitrate=1_000_000, listens_only=False)
        controller.set(powered=True)
    history.do("run", 0, 1_000_000)
    history.got.clear()
    for index in range(NODES):
        history.do("send", index, index)
    history.do("run", 0, 5_000_000)
    assert {receiver: len(frames) for receiver, frames in history.got.items()} == dict.fromkeys(
        range(NODES), NODES - 1
    )
