"""Process data by the mapping objects, in bytes and in bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.pdo import RX_MAPPING, PdoEntry
from humanoid_twin.ethercat.coe.dictionary import (
    Access,
    Entry,
    ObjectDictionary,
    SdoAbort,
    TypeCode,
)
from humanoid_twin.ethercat.coe.pdo import Image, Mapping

TYPES = {8: (TypeCode.U8, TypeCode.I8), 16: (TypeCode.U16, TypeCode.I16),
         32: (TypeCode.U32, TypeCode.I32), 64: (TypeCode.U64, TypeCode.I64)}  # fmt: skip


class Objects:
    """Entries 0x3000, 0x3001 … of given sizes, writable and mappable."""

    def __init__(self, *sizes: tuple[int, bool]) -> None:
        self.values = [0] * len(sizes)
        self.dictionary = ObjectDictionary()
        for number, (bits, signed) in enumerate(sizes):
            self.dictionary.add_variable(0x3000 + number, self._entry(number, bits, signed))

    def _entry(self, number, bits, signed):
        def put(value):
            self.values[number] = value

        return Entry(
            name=str(number), type=TYPES[bits][signed], access=Access.RW, pdo_mappable=True,
            get=lambda: self.values[number], set=put,
        )  # fmt: skip

    def lines(self, *bits: int) -> list[PdoEntry]:
        return [PdoEntry(0x3000 + number, 0, size) for number, size in enumerate(bits)]


def fitting(bits: int, signed: bool) -> st.SearchStrategy[int]:
    low = -(1 << bits - 1) if signed else 0
    return st.integers(low, low + (1 << bits) - 1)


layouts = st.lists(
    st.tuples(st.sampled_from([8, 16, 32, 64]), st.booleans(), st.integers(0, 9)), min_size=1,
    max_size=6,
)  # fmt: skip


@given(layouts, st.data())
def test_packed_process_data_is_unpacked_with_padding_of_any_bits(layout, data):
    objects = Objects(*[(bits, signed) for bits, signed, _ in layout])
    lines = []
    for line, (_, _, padding) in zip(
        objects.lines(*[bits for bits, _, _ in layout]), layout, strict=True
    ):
        lines += [line, PdoEntry(0, 0, padding)] if padding else [line]
    image = Image(objects.dictionary, lines)
    values = [data.draw(fitting(bits, signed)) for bits, signed, _ in layout]
    objects.values[:] = values
    packed = image.get_entries()
    assert len(packed) == image.bytes == (sum(line.bits for line in lines) + 7) // 8
    objects.values[:] = [0] * len(values)
    image.set_entries(packed)
    assert objects.values == values


@given(st.integers(-(1 << 40), 1 << 40))
def test_an_input_that_does_not_fit_wraps_around(value):
    objects = Objects((32, True), (8, False))
    image = Image(objects.dictionary, objects.lines(32, 8))
    objects.values[:] = [value, 3]
    assert image.get_entries() == (value & 0xFFFFFFFF).to_bytes(4, "little") + b"\3"


def test_bits_lie_where_the_mapping_puts_them():
    objects = Objects((8, False), (8, True))
    image = Image(objects.dictionary, [PdoEntry(0, 0, 3), *objects.lines(4, 5)])
    image.set_entries((0b11111_0110_000).to_bytes(2, "little"))
    assert objects.values == [0b0110, -1]


class Device:
    """A drive's outputs and how they are mapped."""

    def __init__(self) -> None:
        self.objects = Objects((16, False), (32, True), (8, True))
        self.preop = True
        self.dictionary = self.objects.dictionary
        self.mapping = Mapping(self.dictionary, 0x1600, 0x1C12, 4, lambda: self.preop)
        self.mapping.restore(self.objects.lines(16, 32))

    def write(self, index, subindex, value, size):
        self.dictionary.write(index, subindex, value.to_bytes(size, "little"))

    def refusal(self, index, subindex, value, size=4) -> int:
        with pytest.raises(SdoAbort) as refusal:
            self.write(index, subindex, value, size)
        return refusal.value.code


def test_the_mapping_is_read_back_as_restored():
    device = Device()
    assert device.dictionary.read_complete(0x1600, 0).hex() == "0200" + "10000030" + "20000130"
    assert device.dictionary.read(0x1C12, 1) == b"\x00\x16"
    assert device.mapping.image().bytes == 6


def test_a_mapping_is_written_while_its_count_is_zero():
    device = Device()
    assert device.refusal(0x1600, 1, 0x30020008) == AbortCode.SUBINDEX_NOT_ZERO
    device.write(0x1600, 0, 0, 1)
    device.write(0x1600, 1, 0x30020008, 4)
    device.write(0x1600, 2, 0x00000008, 4)  # padding
    device.write(0x1600, 0, 2, 1)
    assert device.mapping.image().bytes == 2


def test_a_count_may_come_in_sixteen_bits():
    device = Device()
    device.write(0x1600, 0, 0, 2)
    device.write(0x1600, 0, 1, 2)
    assert device.mapping.image().bytes == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (0x7FFF0010, AbortCode.NO_OBJECT),
        (0x30000110, AbortCode.NO_SUBINDEX),
        (0x30000008, AbortCode.NOT_MAPPABLE),  # it has 16 bits
        (0x16000108, AbortCode.NOT_MAPPABLE),
    ],
)
def test_only_mappable_entries_of_their_size_can_be_mapped(line, code):
    device = Device()
    device.write(0x1600, 0, 0, 1)
    assert device.refusal(0x1600, 1, line) == code


def test_a_count_must_have_lines_behind_it():
    device = Device()
    assert device.refusal(0x1600, 0, 3, 1) == AbortCode.NOT_MAPPABLE
    assert device.refusal(0x1600, 0, 5, 1) == AbortCode.VALUE_TOO_HIGH


def test_pdo_mapping_is_refused_outside_preop():
    device = Device()
    device.preop = False
    for index, subindex, size in [(0x1600, 0, 1), (0x1600, 1, 4), (0x1C12, 0, 1), (0x1C12, 1, 2)]:
        assert device.refusal(index, subindex, 0, size) == AbortCode.WRONG_STATE


def test_pdo_of_the_other_direction_cannot_be_assigned():
    device = Device()
    device.write(0x1C12, 0, 0, 1)
    assert device.mapping.image().bytes == 0
    assert device.refusal(0x1C12, 1, 0x1A00, 2) == AbortCode.NOT_MAPPABLE


def test_a_whole_mapping_is_written_at_once():
    device = Device()
    whole = bytes.fromhex("0300" + "08000230" + "10000030" + "20000130")
    device.dictionary.write_complete(0x1600, 0, whole)
    assert device.dictionary.read_complete(0x1600, 0) == whole
    assert device.mapping.image().bytes == 7


def test_the_drives_own_mapping_is_that_of_the_vendors_demo(master):
    master.preop()
    assert [line.bits for line in RX_MAPPING] == [16, 32, 8, 8]
    image = master.ring.slaves[0].firmware.dictionary.read_complete(0x1600, 0)
    assert image.hex() == "0400" + "10004060" + "20007a60" + "08006060" + "08000000"
