# make demo    audits a small real judge on a real vLLM engine; no GPU needed
# make test    checks and tests
# make check   style, types, import layers
# make bench   speed: each figure beside its target
PY := .venv/bin/python

.PHONY: setup demo test test-gpu check bench
setup:
	@.ci/setup

demo: setup
	$(PY) -m experiments experiment=trust judge=smollm2 data=verifiable data.limit=16 repeats=3

check: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

test: check
	$(PY) -m pytest

test-gpu: setup
	$(PY) -m pytest -m gpu

bench: setup
	$(PY) tests/benchmarks
