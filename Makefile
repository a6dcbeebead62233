# `make report` and `make test` do their own set-up: Python 3.11+, make and a package index are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PROFILE ?= quick
# Every process would compile this suite again where bytecode is not kept; what is kept stands in ignored folders.
unexport PYTHONDONTWRITEBYTECODE
# Tests run side by side: with one linear-algebra thread each they do not wait for each other.
# Each process starts with half of the list (worksteal), so that neighbours share what they build.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: report test portable thorough lint types drift theorems kernel bench mutants fuzz browser documents check clean

report: $(INSTALLED)  ## derive, verify and render everything into build/report/
	$(BIN)/giantsteps report --profile $(PROFILE)

test: $(INSTALLED)  ## the fast tests
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not thorough and not browser" $(PYTEST_OPTIONS)

portable:  ## the fast tests on emulated older processors (ON="nehalem haswell") or with the oldest or newest libraries (ON=oldest), as another user, in an odd path, in random order
	$(PYTHON) -m benchmarks.portable $(ON)

thorough: $(INSTALLED)  ## every test and the thorough profile of the ledger
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not browser"
	$(BIN)/giantsteps verify --profile thorough

lint: $(INSTALLED)
	$(BIN)/ruff check .

types: $(INSTALLED)  ## mypy looks at the one package that is installed (links put it together) and at what uses it
	mkdir -p build/types/giantsteps
	for room in derivations numerics verify reports; do ln -sfn ../../../$$room build/types/giantsteps/$$room; done
	for file in __init__.py __main__.py py.typed; do ln -sfn ../../../giantsteps/$$file build/types/giantsteps/$$file; done
	for user in benchmarks tests/giantsteps/user_script.py; do ln -sfn ../../$$user build/types/$${user##*/}; done
	cd build/types && ../../$(BIN)/python -m mypy --config-file ../../pyproject.toml

drift: $(INSTALLED)  ## does the committed ledger still follow from the code?
	$(BIN)/giantsteps report --profile quick --check

theorems: $(INSTALLED)  ## keep anew the equations that digits are computed by
	$(BIN)/python -m giantsteps.verify.compiled.theorems

kernel: $(INSTALLED)  ## the proofs (of CLAIMS, else all) before a second kernel, Rocq (Debian packages coq, libcoq-coquelicot)
	$(BIN)/giantsteps verify $(CLAIMS) --export rocq build/rocq
	$(BIN)/python -m giantsteps.reports.commands.kernel build/rocq

bench: $(INSTALLED)  ## speed and accuracy together, as ratios of one run
	$(BIN)/python -m benchmarks.run

mutants: $(INSTALLED)  ## random slips in the source against the fast tests of their own room; goes on where it stopped
	$(BIN)/python -m benchmarks.mutants.campaign --most $(or $(MOST),600)

fuzz: $(INSTALLED)  ## random command lines and certificates against the contract; goes on where it stopped
	$(BIN)/python -m benchmarks.fuzz.campaign --lines $(or $(LINES),100000) --certificates $(or $(MODELS),10000)

browser: $(INSTALLED)  ## look at the pages of build/report in headless Chromium (or of the committed ledger)
	$(BIN)/python -m pytest -m browser tests/reports/page/test_browser.py -s -rs

documents: $(INSTALLED)  ## draw the pictures of the README and the tutorial, and write the reference (docs/api), again
	$(BIN)/python -m benchmarks.documents

check: test lint types drift

clean:
	rm -rf build

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] + "; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@
