"""A policy's model: an ONNX file, run by ONNX Runtime on one thread."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.whole_file import read_bytes
from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.observation import Float32Array, Observation

PACKAGE: Final = "package://"
# [bytes] of a file; policies have a tenth of it. ONNX Runtime holds the interpreter while it takes
# one: 20 ms for weights of this size. `trial` measures what nodes and constants take.
LARGEST: Final = 16 << 20
_FATAL: Final = 4  # the severity of ONNX Runtime's messages that are shown
_LONGEST_SHOWN: Final = 200  # characters of a message of ONNX Runtime
# Where ONNX Runtime looks for weights outside of the file. Without this entry it looks in the
# working directory of the process, where a file of the same name may belong to another model.
_WEIGHTS_FOLDER: Final = "session.model_external_initializers_file_folder_path"
_NO_FOLDER: Final = "/dev/null"
# Without it ONNX Runtime 1.32 keeps an identifier of the machine in HOME, and a thread of it sends
# reports to its maker over the network.
_NO_TELEMETRY: Final = "ORT_DISABLE_TELEMETRY"
_OUTSIDE: Final = "External data"  # in ONNX Runtime's message about such weights


class PolicyModel:
    """A checked model. One thread at a time calls `infer`.

    A model is a program that may have no end: a foreign one is tried first, see `trial`.

    Args:
        content: of the file.
        where: the file's name, for messages.

    Raises PolicyRefusedError for a model that ONNX Runtime cannot run, wrong metadata, and inputs
    and outputs that do not fit them.
    """

    def __init__(self, content: bytes, where: str) -> None:
        session = session_of(content, where)
        self._options = _runtime().RunOptions()
        try:
            found = session.get_modelmeta().custom_metadata_map
            inputs = [_Tensor.of(it) for it in session.get_inputs()]
            outputs = [_Tensor.of(it) for it in session.get_outputs()]
        except UnicodeDecodeError as error:
            raise PolicyRefusedError(f"{where}: its texts are not UTF-8: {error}") from error
        self.metadata = PolicyMetadata.from_strings(found, where)
        self.observation = Observation(self.metadata)
        self._session = session
        self._input = _only(inputs, f"{where}: input", self.observation.size)
        self._where, self._shape = where, (1, len(self.metadata.action_joint_names))
        self._output = _only(outputs, f"{where}: output", self._shape[1])
        self._warm_up(where)

    def infer(self, observation: Float32Array) -> FloatArray:
        """Return the action, (m,), for an observation, (size,).

        Raises what ONNX Runtime raises, and PolicyRefusedError for an output of another shape: a
        shape without numbers may depend on the observation.
        """
        given = {self._input: observation[None]}
        (action,) = self._session.run([self._output], given, self._options)
        if action.shape != self._shape:
            found, expected = (", ".join(map(str, it)) for it in (action.shape, self._shape))
            raise PolicyRefusedError(
                f"{self._where}: output: found shape [{found}], expected [{expected}]"
            )
        return np.asarray(action[0], dtype=np.float64)

    def interrupt(self, on: bool) -> None:
        """Let `infer` raise, also while it runs, after the node that is computed; or no longer.

        Called by any thread.
        """
        self._options.terminate = on

    def _warm_up(self, where: str) -> None:
        """Infer once: the first time takes longer. Raises PolicyRefusedError."""
        try:
            action = self.infer(np.zeros(self.observation.size, dtype=np.float32))
        except PolicyRefusedError:
            raise
        except Exception as error:  # ONNX Runtime's errors have no common class
            raise PolicyRefusedError(f"{where}: cannot be run: {_shown(error)}") from error
        wrong = np.flatnonzero(~np.isfinite(action))
        if wrong.size:
            joint = self.metadata.action_joint_names[wrong[0]]
            raise PolicyRefusedError(
                f"{where}: the action of {joint} (index {wrong[0]}) is {action[wrong[0]]} for an "
                "observation of zeros, expected a finite number"
            )


class _Tensor(NamedTuple):
    """An input or output of a model."""

    name: str
    type: str
    shape: list[Any]

    @classmethod
    def of(cls, described: Any) -> Self:
        return cls(described.name, described.type, described.shape)


def load_policy(name: str) -> PolicyModel:
    """Return the policy of a file that is trusted. Raises PolicyRefusedError, see PolicyModel.

    See `read_policy`, and `trial.load_tried` for a foreign file.
    """
    return PolicyModel(*read_policy(name))


def read_policy(name: str) -> tuple[bytes, str]:
    """Return content and path of a policy's file, see `policy_file`. Raises PolicyRefusedError."""
    path = policy_file(name)
    try:
        return read_bytes(path, LARGEST), str(path)
    except ConfigError as error:
        raise PolicyRefusedError(str(error)) from error


def policy_file(name: str) -> Path:
    """Return the file that is named by an absolute path or `package://NAME/PATH`.

    Raises PolicyRefusedError for another form and for a package that is not installed.
    """
    if not name.startswith(PACKAGE):
        path = Path(name)
        if not path.is_absolute():
            raise PolicyRefusedError(
                f"model '{name}': expected an absolute path or {PACKAGE}NAME/PATH"
            )
        return path
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    try:
        return Path(get_package_share_directory(package)) / rest
    except (PackageNotFoundError, ValueError) as error:
        raise PolicyRefusedError(
            f"model '{name}': the package '{package}' is not installed"
        ) from error


def load_runtime() -> None:
    """Import ONNX Runtime if it is installed; for the time before a control loop runs.

    The import holds the interpreter for 25 ms: beside the loop, it would delay a tick.
    """
    with suppress(ImportError):
        _runtime()


def _runtime() -> Any:
    """Import ONNX Runtime, which only policies need, without its telemetry."""
    os.environ.setdefault(_NO_TELEMETRY, "1")
    import onnxruntime

    return onnxruntime


def session_of(content: bytes, where: str) -> Any:
    """Return ONNX Runtime's session of a model. Raises PolicyRefusedError."""
    onnxruntime = _runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    options.add_session_config_entry(_WEIGHTS_FOLDER, _NO_FOLDER)
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors have no common class
        if _OUTSIDE in str(error):
            text = "its weights are in another file, expected one file with model and weights"
            remedy = "export it without external data (PyTorch: `external_data=False`)"
            raise PolicyRefusedError(f"{where}: {text}: {remedy}") from error
        raise PolicyRefusedError(f"{where}: no ONNX model that runs: {_shown(error)}") from error


def _only(found: list[_Tensor], what: str, size: int) -> str:
    """Return the name of the only input or output, if it is float32 [1, size]."""
    if len(found) != 1:
        names = ", ".join(it.name for it in found[:8]) or "none"
        raise PolicyRefusedError(f"{what}: found {len(found)} ({names}), expected one")
    (it,) = found
    shape = it.shape
    fits = len(shape) == 2 and all(  # a dimension that is no number may have any size
        not isinstance(is_, int) or is_ == wanted
        for is_, wanted in zip(shape, (1, size), strict=True)
    )
    if it.type != "tensor(float)" or not fits:
        text = f"{what} '{it.name}': found {it.type} {shape}, expected tensor(float) [1, {size}]"
        raise PolicyRefusedError(text)
    return it.name


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
