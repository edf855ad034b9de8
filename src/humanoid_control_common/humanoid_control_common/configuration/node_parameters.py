"""Parameters of nodes: their descriptions, and the refusal to set them while the node runs.

Every node of the workspace reads its parameters once. `FixedParameters` is a base before rclpy's
Node: it refuses `ros2 param set` with a remedy; rclpy alone would accept it without effect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rcl_interfaces.srv import GetParameterTypes, SetParameters, SetParametersAtomically

if TYPE_CHECKING:  # nodes without a model need neither
    from pydantic import BaseModel

    from humanoid_control_common.configuration.config import Document

SIM_TIME: Final = "use_sim_time"
_OF_ROS: Final = {
    SIM_TIME: "Take the time from /clock, as of a simulation. Applied at once.",
    "start_type_description_service": "Offer a service with the types of the node's interfaces.",
}
_AT_START: Final = "when the program starts"
_START_AGAIN: Final = "start the program again"
_LARGEST: Final = 2**63 - 1  # of ROS' integers


class FixedParameters:
    """The part of a node that refuses changes of its parameters."""

    _reasons: dict[str, str] | None = None  # by name; None: nothing was described
    # Returns what becomes of a parameter that may be set; empty for all others.
    settable: Callable[[str], str] = staticmethod(lambda name: "")

    def create_service(
        self, kind: Any, name: str, callback: Callable[..., Any], **options: Any
    ) -> Any:
        """See rclpy's Node. An unfit request to a service of parameters does not end the program.

        rclpy raises at the type of an unknown parameter, and at a value of an unknown type.
        """
        if kind in (GetParameterTypes, SetParameters, SetParametersAtomically):
            callback = partial(_answer, callback)
        return super().create_service(kind, name, callback, **options)  # type: ignore[misc]

    def set_parameters(self, parameter_list: Iterable[Any]) -> list[SetParametersResult]:
        """See rclpy's Node."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Any]) -> SetParametersResult:
        """See rclpy's Node. The reason of each refusal has a remedy."""
        names = [parameter.name for parameter in parameter_list]
        for name in names:
            if name != SIM_TIME and not self.settable(name):
                return SetParametersResult(successful=False, reason=self._refusal(name))
        result = super().set_parameters_atomically(parameter_list)  # type: ignore[misc]
        if result.successful:
            result.reason = "; ".join(filter(None, map(self.settable, names)))
        return result

    def describe_parameter(self, name: str) -> ParameterDescriptor:
        """See rclpy's Node, which does not describe the parameters that it declares itself."""
        descriptor = super().describe_parameter(name)  # type: ignore[misc]
        descriptor.description = descriptor.description or _OF_ROS.get(name, "")
        return descriptor

    def _refusal(self, name: str) -> str:
        node: Any = self
        where = node.get_fully_qualified_name()
        if not node.has_parameter(name):
            known = ", ".join(sorted(node.get_parameters_by_prefix("")))
            return f"{where} has no parameter '{name}'; it has {known}"
        reasons = self._reasons or {}
        return reasons.get(name) or _refusal(name, "", _AT_START, _START_AGAIN)

    def describe(
        self,
        model: type[BaseModel],
        document: Document,
        *,
        under: str = "",
        when: str = _AT_START,
        remedy: str = _START_AGAIN,
    ) -> None:
        """Give every declared parameter its descriptor, from the fields of `model`.

        Args:
            model: of the node's parameters.
            document: the parameters, with the places they came from.
            under: the field of `model` that holds names which are no field of it.
            when: when the parameters are read.
            remedy: what applies a changed file.
        """
        from humanoid_control_common.configuration.parameter_files import OF_BRING_UP

        node: Any = self
        schema = model.model_json_schema()
        self._reasons = {}
        for name, parameter in node.get_parameters_by_prefix("").items():
            path = name.split(".")
            found = _field(schema, path) or (_field(schema, [under, *path]) if under else None)
            descriptor = _descriptor(found or {}, name, model, parameter)
            descriptor.read_only = name != SIM_TIME and not self.settable(name)
            node.set_descriptor(name, descriptor)
            place = document.where(tuple(path))
            known = place if place != document.name else ""
            if OF_BRING_UP in known:
                known = "the options or files of the bring-up"
            self._reasons[name] = _refusal(name, known, when, remedy)


def _answer(callback: Callable[..., Any], request: Any, response: Any) -> Any:
    """Return the answer of `callback`; where it raises a refusal, or an answer without values."""
    try:
        return callback(request, response)
    except (TypeError, ValueError) as error:
        answer = type(response)()
        refusal = SetParametersResult(successful=False, reason=str(error))
        if hasattr(answer, "results"):
            answer.results = [refusal] * len(request.parameters)
        elif isinstance(getattr(answer, "result", None), SetParametersResult):
            answer.result = refusal
        return answer


def _refusal(name: str, place: str, when: str, remedy: str) -> str:
    where = place or "the parameter file or the command line"
    return f"'{name}' is read {when}: change it in {where}, then {remedy}"


def fixed(description: str, **limits: Any) -> ParameterDescriptor:
    """Return the descriptor of a parameter that a node declares itself."""
    return ParameterDescriptor(description=description, read_only=True, **limits)


def _field(schema: Mapping[str, Any], path: list[str]) -> Mapping[str, Any] | None:
    """Return the JSON schema of the field at `path`; None if there is none."""
    here: Mapping[str, Any] = schema
    for part in path:
        inner = here.get("properties", {}).get(part) or here.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return None
        here = _resolved(schema, inner)
    return here


def _resolved(schema: Mapping[str, Any], field: Mapping[str, Any]) -> dict[str, Any]:
    """Return `field` with its reference and its one kind that is not null filled in."""
    kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
    parts = [kinds[0]] if len(kinds) == 1 else []
    if reference := field.get("$ref"):
        parts.append(schema["$defs"][reference.rpartition("/")[2]])
    filled: dict[str, Any] = {}
    for part in parts:
        filled |= _resolved(schema, part)
    return {**filled, **field}


def _descriptor(
    field: Mapping[str, Any], name: str, model: type[BaseModel], parameter: Any
) -> ParameterDescriptor:
    text = field.get("description") or _OF_ROS.get(name) or f"'{name}' of {model.__name__}"
    descriptor = fixed(text, type=parameter.type_.value)
    lower = field.get("minimum", field.get("exclusiveMinimum"))
    upper = field.get("maximum", field.get("exclusiveMaximum"))
    if lower is not None or upper is not None:
        _add_range(descriptor, parameter.value, lower, upper)
    descriptor.additional_constraints = "; ".join(_constraints(field))
    return descriptor


def _add_range(
    descriptor: ParameterDescriptor, value: object, lower: float | None, upper: float | None
) -> None:
    if isinstance(value, float):
        ends = (-sys.float_info.max, sys.float_info.max)
        low = ends[0] if lower is None else float(lower)
        high = ends[1] if upper is None else float(upper)
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    elif isinstance(value, int) and not isinstance(value, bool):
        first = -_LARGEST if lower is None else int(lower)
        last = _LARGEST if upper is None else int(upper)
        descriptor.integer_range = [IntegerRange(from_value=first, to_value=last, step=1)]


def _constraints(field: Mapping[str, Any]) -> Iterable[str]:
    if "exclusiveMinimum" in field:
        yield f"greater than {field['exclusiveMinimum']:g}"
    if "exclusiveMaximum" in field:
        yield f"less than {field['exclusiveMaximum']:g}"
    if "enum" in field:
        yield f"one of {', '.join(map(str, field['enum']))}"
    if field.get("minItems"):
        yield f"at least {field['minItems']} entries"
    items = field.get("items", {})
    if isinstance(items, Mapping) and items.keys() & {"minimum", "exclusiveMinimum"}:
        least = items.get("exclusiveMinimum", items.get("minimum"))
        word = "greater than" if "exclusiveMinimum" in items else "at least"
        yield f"each {word} {least:g}"
