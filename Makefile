# solwatch: from a fresh clone to a verdict. `make help` lists the targets.
#
# Needs python3 >= 3.10 with venv, make, a C++ compiler and git. Everything else is installed into .venv by pip.
# All paths are relative, so that the clone may lie in a folder whose name has spaces.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON3 ?= python3
CUDA ?= auto
BENCH_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --require-virtualenv
INSTALL := $(PIP) install --quiet --constraint constraints.txt

# The kernels' wheel: CUDA=1 asks for the CUDA build, CUDA=0 for the CPU's, auto goes by the GPU that is visible.
# Left to itself the wheel's build takes any nvcc; a machine without a GPU would then compile what it can't run.
GPU_VISIBLE := $(shell nvidia-smi -L >/dev/null 2>&1 && echo 1 || echo 0)
ifneq ($(CUDA),auto)
export FUSED_O_PROJ_CUDA := $(CUDA)
else ifeq ($(GPU_VISIBLE),0)
export FUSED_O_PROJ_CUDA ?= 0
endif
comma := ,
NVCC_FOUND := $(shell command -v nvcc >/dev/null 2>&1 && echo 1 || { [ -x "$${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] && echo 1 || echo 0; })
TOOLKIT := $(if $(filter 0,$(FUSED_O_PROJ_CUDA)),,$(if $(filter 0,$(NVCC_FOUND)),toolkit))
EXTRAS := build$(if $(filter 1,$(GPU_VISIBLE)),$(comma)cuda)$(if $(TOOLKIT),$(comma)toolkit)

.PHONY: help bench test check demo e2e cuda judges figures gpu peers wheelhouse clean venv dev

help:  ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "  CUDA=1 asks for the CUDA build without a GPU, CUDA=0 for the CPU's; PYTHON3=... names the interpreter."

# --- set-up: a stamp for each set of packages, inside the environment that it speaks of -------------------------

$(BIN)/python:
	@command -v "$(PYTHON3)" >/dev/null 2>&1 || { \
	  echo "$(PYTHON3) not found: install Python 3.10 or newer, or name one with PYTHON3=..." >&2; exit 3; }
	@"$(PYTHON3)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "$$("$(PYTHON3)" --version) is too old: Python 3.10 or newer is needed; name one with PYTHON3=..." >&2; exit 3; }
	@"$(PYTHON3)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON3) has no venv or no pip: install it (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 3; }
	@echo "making $(VENV) with $$("$(PYTHON3)" --version)" >&2
	@rm -rf $(VENV) && "$(PYTHON3)" -m venv $(VENV)

# The extras are part of the stamp's name: a machine that gets a GPU, or CUDA=1, installs what is missing then.
STAMP := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))

$(STAMP): constraints.txt reports/pyproject.toml | $(BIN)/python
	@command -v git >/dev/null 2>&1 || { echo "git not found: install it (Debian, Ubuntu: apt-get install git)" >&2; exit 3; }
	@set -- $${CXX:-g++}; command -v "$$1" >/dev/null 2>&1 || { \
	  echo "C++ compiler $${CXX:-g++} not found: install it (Debian, Ubuntu: apt-get install g++) or name one with CXX=..." >&2; exit 3; }
	@echo "installing torch and solwatch into $(VENV) (once; torch is the large one)" >&2
	@$(INSTALL) torch
	@$(INSTALL) --editable "./reports[$(EXTRAS)]"
	@touch "$@"

venv: $(STAMP)  ## make .venv and install what measuring needs

$(VENV)/.installed-dev: $(STAMP) constraints.txt reports/pyproject.toml
	@echo "installing the tools of test and check into $(VENV)" >&2
	@$(INSTALL) --editable "./reports[$(EXTRAS),test,browser,check,e2e]"
	@touch "$@"

dev: $(VENV)/.installed-dev  ## the same, and what testing and checking need

# --- using it ---------------------------------------------------------------------------------------------------

bench: $(STAMP)  ## build HEAD and its parent, time both, print the verdict, write build/report/index.html
	@$(BIN)/solwatch bench $(BENCH_ARGS)

demo: $(STAMP)  ## three commits in a scratch clone: the gate passes, fails, passes
	@$(BIN)/python .ci/demo.py

# --- developing it ----------------------------------------------------------------------------------------------

test: $(VENV)/.installed-dev  ## all tests, on the built wheels
	@$(BIN)/python .ci/test_wheels.py $(TEST_ARGS)

check: $(VENV)/.installed-dev  ## ruff, mypy, import-linter, documentation's tables, workflows
	@bash .ci/check.sh $(BIN)

e2e: $(VENV)/.installed-dev  ## the workflows, run by act in a scratch repository; build/e2e has their logs
	@PYTHONPATH=.ci $(BIN)/python -m pytest .ci/e2e -v $(TEST_ARGS)

cuda: $(VENV)/.installed-dev  ## compile the CUDA library (no GPU needed) and load it
	@$(BIN)/python .ci/build_cuda.py

judges: $(VENV)/.installed-dev  ## recorded noise judged by the rules of other tools and by solwatch; build/judges.json
	@PYTHONPATH=.ci $(BIN)/python -m judges $(JUDGES_ARGS)

figures: $(VENV)/.installed-dev  ## the documentation's figures of judges and replay, anew from the corpus (minutes)
	@PYTHONPATH=.ci $(BIN)/python -m judges --summary docs/data/judges.json $(JUDGES_ARGS)
	@$(BIN)/python .ci/judge_replay.py --output docs/data/replay.json
	@$(BIN)/python .ci/doc_tables.py

gpu: $(VENV)/.installed-dev  ## everything that needs a GPU: tests, memory checker, all cells, a gate, NVBench; logs in build/gpu
	@PYTHON=$(BIN)/python bash .ci/gpu.sh build/gpu $(STEPS)

$(VENV)/.installed-peers: $(STAMP) constraints.txt reports/pyproject.toml
	@echo "installing what the op is compared with into $(VENV)" >&2
	@$(INSTALL) --editable "./reports[$(EXTRAS),peers]"
	@touch "$@"

peers: $(VENV)/.installed-peers  ## the op beside cuBLAS, cuBLASLt, CUTLASS, Triton, torch.compile: one table (needs a GPU)
	@$(BIN)/python -m benchmarks.peers $(PEERS_ARGS)

# It is meant for a machine with a GPU, whatever this one has.
ifeq ($(CUDA),auto)
wheelhouse: export FUSED_O_PROJ_CUDA := auto
endif
wheelhouse: $(VENV)/.installed-dev  ## wheels of everything but torch for PYTHON=3.12, for a machine without network
	@$(BIN)/python .ci/wheelhouse.py $(if $(PYTHON),--python "$(PYTHON)") $(if $(WITH_TOOLKIT),--toolkit)

clean:  ## remove what was generated; keep .venv
	@rm -rf build wheelhouse .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
