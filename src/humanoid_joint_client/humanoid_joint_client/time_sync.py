"""The offset between the client's clock and the robot's, from exchanges of time stamps."""

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

EXCHANGES: Final = 9  # of one synchronization
USED: Final = 5  # those with the smallest round trip


class Exchange(NamedTuple):
    """One exchange of time stamps [ns]; the outer two are of the client's clock."""

    client_send: int
    server_receive: int
    server_send: int
    client_receive: int

    @property
    def round_trip(self) -> int:
        """The time on the way, there and back [ns]."""
        server = self.server_send - self.server_receive
        return self.client_receive - self.client_send - server

    @property
    def offset(self) -> int:
        """The robot's clock minus the client's [ns], if both ways took the same time."""
        there = self.server_receive - self.client_send
        back = self.server_send - self.client_receive
        return (there + back) // 2


class Synchronization(NamedTuple):
    """The robot's clock minus the client's [ns]; wrong by `round_trip` / 2 at most."""

    offset: int
    round_trip: int  # [ns], the smallest


def synchronized(exchanges: Sequence[Exchange]) -> Synchronization:
    """Return the median offset of the exchanges with the smallest round trips.

    Raises ValueError for fewer than USED exchanges.
    """
    if len(exchanges) < USED:
        raise ValueError(f"{len(exchanges)} exchanges of time stamps, expected {USED} or more")
    best = sorted(exchanges, key=lambda it: it.round_trip)[:USED]
    return Synchronization(int(median(it.offset for it in best)), best[0].round_trip)
