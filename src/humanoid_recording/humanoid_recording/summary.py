"""The metadata of a bag, as rosbag2 reads them: metadata.yaml (format 9, that of Jazzy)."""

import os
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

FILE_NAME: Final = "metadata.yaml"
_FORMAT: Final = 9


@dataclass(slots=True)
class Topic:
    """One topic of a bag; see definitions.py and qos_profiles.py."""

    name: str
    type_name: str
    type_hash: str
    definition: str
    offers: list[dict[str, Any]]
    count: int = 0  # of its messages


@dataclass(slots=True)
class Summary:
    """A bag of one file; times in [ns] since the epoch."""

    file_name: str
    topics: dict[str, Topic] = field(default_factory=dict)  # by name
    custom_data: dict[str, str] = field(default_factory=dict)  # rosbag2 takes text only
    first: int = 0
    last: int = 0

    @property
    def count(self) -> int:
        """Number of messages."""
        return sum(topic.count for topic in self.topics.values())

    @property
    def duration(self) -> int:
        """Time from the first message to the last one [ns]."""
        return self.last - self.first

    def note(self, topic: str, time: int) -> None:
        """Count a written message that arrived at `time` [ns since the epoch]."""
        self.first = min(self.first, time) if self.count else time
        self.last = max(self.last, time)
        self.topics[topic].count += 1

    def to_plain(self) -> dict[str, Any]:
        """Return the values that rosbag2 writes both beside the file and into it."""
        span = {
            "starting_time": {"nanoseconds_since_epoch": self.first},
            "duration": {"nanoseconds": self.duration},
            "message_count": self.count,
        }
        return {
            "version": _FORMAT,
            "storage_identifier": "mcap",
            **span,
            "topics_with_message_count": [_plain(topic) for topic in self.topics.values()],
            "compression_format": "",  # of whole files and messages; MCAP's own does not count
            "compression_mode": "",
            "relative_file_paths": [self.file_name],
            "files": [{"path": self.file_name, **span}],
            "custom_data": dict(self.custom_data) or None,
            "ros_distro": os.environ.get("ROS_DISTRO", ""),
        }


def to_yaml(plain: object) -> str:
    """Return YAML without anchors, which readers based on yaml-cpp may refuse."""
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, _: object) -> bool:
        return True


def _plain(topic: Topic) -> dict[str, Any]:
    return {
        "topic_metadata": {
            "name": topic.name,
            "type": topic.type_name,
            "serialization_format": "cdr",
            "offered_qos_profiles": topic.offers,
            "type_description_hash": topic.type_hash,
        },
        "message_count": topic.count,
    }
