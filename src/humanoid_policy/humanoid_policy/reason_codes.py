"""Reason codes of policies."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Policies")

POLICY_LATE: Final = CODES.add(
    "POLICY_LATE",
    "The inference of the policy took longer than its period; DAMPING took over in the same tick.",
    "`hc policy inspect FILE` times the inference. Use a smaller model or a longer period, or "
    "check `hc doctor` if the machine held it up; then `hc clear-fault`.",
)
POLICY_NOT_FINITE: Final = CODES.add(
    "POLICY_NOT_FINITE",
    "The policy gave an action that is not finite; DAMPING took over in the same tick.",
    "Correct the model, load it (`hc policy load FILE`), then `hc clear-fault`.",
)
POLICY_OUT_OF_LIMITS: Final = CODES.add(
    "POLICY_OUT_OF_LIMITS",
    "The policy commanded a position or an effort beyond the limits of a joint; DAMPING took over "
    "in the same tick.",
    "The message names the joint. The robot was in a state outside of the training, or the "
    "training permits more than the robot's limits; then `hc clear-fault`.",
)
POLICY_WITHOUT_INPUT: Final = CODES.add(
    "POLICY_WITHOUT_INPUT",
    "A topic that the policy observes fell silent; DAMPING took over in the same tick.",
    "Start the program that publishes it; the message names the topic. Then `hc clear-fault`.",
)
POLICY_INFERENCE_FAILED: Final = CODES.add(
    "POLICY_INFERENCE_FAILED",
    "ONNX Runtime could not compute an action; DAMPING took over in the same tick.",
    "See the message; correct the model, load it (`hc policy load FILE`), then `hc clear-fault`.",
)
