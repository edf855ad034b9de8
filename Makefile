# The workspace: `make help` lists what can be made.
#   ARGS  goes to the command behind the target:  make sim ARGS="--rtf 2"    make test ARGS="-k modes"
#   PYTHON  names the Python to set up with:      make setup PYTHON=/usr/bin/python3.12

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
ARGS ?=
# Of the build only where nothing else is made: `make test ARGS="-k modes"` builds everything.
PACKAGES = $(if $(filter-out setup base build,$(MAKECMDGOALS)),,$(if $(MAKECMDGOALS),$(ARGS)))
.NOTPARALLEL: # each step needs the one before it, and uses all cores by itself

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## Fill .venv (ROS 2 wheels, or what a sourced ROS 2 lacks)
	@scripts/workspace/setup.sh

# What runs the robot, without test tools: `make sim` is up sooner on a new machine.
.PHONY: base
base:
	@scripts/workspace/setup.sh --no-tools

.PHONY: build
build: base ## Build src/ with colcon, if needed; some packages only: ARGS="humanoid_devices_can"
	@source .venv/setup.sh; .venv/bin/python scripts/workspace/build.py $(PACKAGES)

.PHONY: sim
sim: build ## Run Prime in MuJoCo with the browser viewer
	@source ./env.sh; exec hc up mujoco --viewer $(ARGS)

.PHONY: twin
twin: build ## Run the real bring-up against the virtual robot, as root, with the browser viewer
	@source ./env.sh; exec hc up twin --viewer $(ARGS)

.PHONY: test
test: setup build ## Run every test
	@source ./env.sh; export ROS_PYTHON_CHECK_FIELDS=1; exec .venv/bin/python scripts/testing/run_tests.py $(ARGS)

.PHONY: unit
unit: setup build ## Run the tests that can share the machine, side by side
	@source ./env.sh; export ROS_PYTHON_CHECK_FIELDS=1; exec .venv/bin/python scripts/testing/run_tests.py --unit $(ARGS)

.PHONY: integration
integration: setup build ## Run the tests in wall time: programs side by side; buses and the virtual robot alone
	@source ./env.sh; export ROS_PYTHON_CHECK_FIELDS=1; exec .venv/bin/python scripts/testing/run_tests.py --integration $(ARGS)

.PHONY: soak
soak: setup build ## Run the long forms: hundreds of start-ups, a million broken frames, memory in use, every benchmark once
	@source ./env.sh; exec .venv/bin/python -m pytest -m soak --timeout 7200 $(ARGS)

.PHONY: faults
faults: setup build ## Inject random faults into the stepped robot: ARGS="--count 1000 --seed 1"
	@source ./env.sh; export PYTHONPATH="tests:$$PYTHONPATH"; exec .venv/bin/python -m fault_campaign $(ARGS)

.PHONY: lint
lint: setup build ## Check style, format, the direction of imports, and files that are not run here
	@source ./env.sh; ruff check; ruff format --check; lint-imports; .venv/bin/python scripts/checking/check_files.py; .venv/bin/python scripts/checking/check_sizes.py; .venv/bin/python scripts/checking/ament_linters.py

.PHONY: types
types: setup ## Check the types, those of what tests share, too
	@source .venv/setup.sh; mypy $(ARGS); exec .venv/bin/python scripts/checking/types_of_tests.py

.PHONY: format
format: setup ## Format the code and apply ruff's fixes
	@source .venv/setup.sh; ruff check --fix; ruff format

.PHONY: policy
policy: setup build ## Train Prime's reaching policy, an hour on 2 cores: ARGS="--generations 100 FILE.onnx"
	@.venv/bin/python -m pip install --quiet --constraint requirements/constraints.txt --requirement requirements/training.txt
	@source ./env.sh; OMP_NUM_THREADS=1 exec .venv/bin/python -m humanoid_policy_training $(or $(ARGS),src/humanoid_bringup_prime/policies/reaching.onnx)

.PHONY: bench
bench: setup build ## Run every benchmark, results in build/benchmarks/*.json
	@source ./env.sh; exec .venv/bin/python scripts/bench.py $(ARGS)

.PHONY: clean
clean: ## Remove what `make build` made
	@rm -rf build install log

.PHONY: distclean
distclean: clean ## Remove .venv and caches too
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
