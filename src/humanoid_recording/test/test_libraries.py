"""Bags are readable with the libraries `mcap`, `mcap-ros2-support` and `rosbags`."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from humanoid_recording.definitions import definition, type_hash
from humanoid_recording.reader import BagReader
from humanoid_recording.topics import OBSERVATIONS


@pytest.fixture
def bag(tmp_path: Path, bags: SimpleNamespace) -> Path:
    folder = tmp_path / "walk"
    bags.write(folder, bags.messages.items())
    return folder


def test_the_mcap_library_decodes_every_message(bag: Path, bags) -> None:
    with (bag / "walk_0.mcap").open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        seen = {}
        for schema, channel, record, message in reader.iter_decoded_messages():
            assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
            assert record.log_time - record.publish_time == 1000
            seen[channel.topic] = message
        summary = reader.get_summary()
    assert list(seen["/prime/joint_states"].position) == [0.1, -0.2]
    assert seen["/control_mode"].controller_name == "standby_controller"
    assert seen["/diagnostics"].status[0].values[0].value == "7"
    assert set(seen) == set(bags.messages)
    assert summary.statistics.message_count == len(bags.messages)
    assert len(summary.chunk_indexes) == len(bags.messages)  # each was flushed


def test_the_rosbags_library_opens_the_folder_as_a_bag(bag: Path, bags) -> None:
    with AnyReader([bag]) as reader:
        seen = {
            connection.topic: reader.deserialize(data, connection.msgtype)
            for connection, _, data in reader.messages()
        }
        assert reader.start_time == bags.start
    assert seen["/prime/joint_commands"].stiffness.tolist() == [0.1, -0.2]
    assert seen["/safety_status"].source == "PrimeSitoCAN"
    assert set(seen) == set(bags.messages)


def test_offers_are_reported_in_the_file_and_beside_it(bag: Path) -> None:
    with Reader(bag) as reader:
        durabilities = {
            connection.topic: connection.ext.offered_qos_profiles[0].durability.name
            for connection in reader.connections
        }
    assert durabilities["/safety_status"] == "TRANSIENT_LOCAL"
    assert durabilities["/control_mode"] == "VOLATILE"
    beside = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    for topic in beside["topics_with_message_count"]:
        entry = topic["topic_metadata"]
        channel = next(m.channel for m in BagReader(bag) if m.channel.topic == entry["name"])
        assert (
            yaml.safe_load(channel.metadata["offered_qos_profiles"])
            == entry["offered_qos_profiles"]
        )
        assert channel.metadata["topic_type_hash"] == entry["type_description_hash"]


def test_the_summary_is_rosbag2s(bag: Path, bags) -> None:
    found = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    span = {
        "starting_time": {"nanoseconds_since_epoch": bags.start},
        "duration": {"nanoseconds": (len(bags.messages) - 1) * 20_000_000},
        "message_count": len(bags.messages),
    }
    # The keys that rosbag2's reader asks for in format 9, all of them.
    topics = found.pop("topics_with_message_count")
    assert found == {
        "version": 9,
        "storage_identifier": "mcap",
        **span,
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": ["walk_0.mcap"],
        "files": [{"path": "walk_0.mcap", **span}],
        "custom_data": None,
        "ros_distro": found["ros_distro"],
    }
    assert set(topics[0]["topic_metadata"]) == {
        "name",
        "type",
        "serialization_format",
        "offered_qos_profiles",
        "type_description_hash",
    }
    assert set(topics[0]["topic_metadata"]["offered_qos_profiles"][0]) == {
        "history",
        "depth",
        "reliability",
        "durability",
        "deadline",
        "lifespan",
        "liveliness",
        "liveliness_lease_duration",
        "avoid_ros_namespace_conventions",
    }


@pytest.mark.parametrize("topic", [f"/{name}" for name in OBSERVATIONS])
def test_definitions_are_whole_and_hashed_as_others_do(topic: str, bags) -> None:
    kind = bags.topic(topic, bags.messages[topic]).type_name
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition(kind), kind))
    assert store.hash_rihs01(kind) == type_hash(kind)
