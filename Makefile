# Gavel. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV ?= .venv
PY := $(VENV)/bin/python
LOCKS := images/locks
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3 python,$(shell command -v $(p) >/dev/null 2>&1 && $(p) -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null && echo $(p))))
# Where pip takes torch from; empty: pip's own index. The CPU build is a tenth of the size of the CUDA one (docs/setup.md).
TORCH_INDEX ?=
EXPERIMENT ?= quickstart
SET ?=
JUDGE ?= smollm2-lr
# Processes that share the tests of `make test`, file by file.
JOBS ?= 3
# A variable as one word of the shell, and as an option where it is set.
text = '$(subst ','\'',$(1))'
option = $(if $(strip $(2)),--$(1)=$(call text,$(2)))
flag = $(if $(filter-out 0,$(strip $(2))),--$(1))
# What was set for this command, or in the environment, and is not the default of this file.
given = $(if $(filter-out file,$(origin $(1))),$($(1)))
# An empty value in the environment counts as none: what is removed below must never hang from an empty name.
export GAVEL_STATE := $(or $(strip $(GAVEL_STATE)),.gavel)

# `make run mine` would run the default experiment and then look for a file "mine".
NAMED := run show plan data
ifneq ($(filter $(NAMED),$(MAKECMDGOALS)),)
ifneq ($(filter-out $(NAMED),$(MAKECMDGOALS)),)
$(error name the experiment like this: make $(firstword $(MAKECMDGOALS)) EXPERIMENT=$(firstword $(filter-out $(NAMED),$(MAKECMDGOALS))))
endif
endif

# A variable that a target does not know would be dropped in silence.
IFEVAL_KNOBS := CONTEXT BATCH SAMPLES MAX_TOKENS DTYPE TEMPERATURE TOP_P TOP_K BACKEND CHAT_TEMPLATE SYSTEM_PROMPT SEED \
  THREADS LIMIT TENSOR_PARALLEL GPU_MEMORY
KNOWN_run := EXPERIMENT SET
KNOWN_show := EXPERIMENT SET
KNOWN_data := EXPERIMENT SET
KNOWN_plan := EXPERIMENT SET FILL AGAIN CRITERIA
KNOWN_demo := SET
KNOWN_demo-tiny := SET
KNOWN_eval := CHECKPOINT EXPERIMENT JUDGE BASE SET
KNOWN_merge := CHECKPOINT TARGET DTYPE
KNOWN_study := STUDY SET
KNOWN_study-plan := STUDY SET
KNOWN_mixed := MODEL EXPERIMENT SKIP_DATA SET
KNOWN_workflow := MODEL EXPERIMENT SKIP_DATA SET
KNOWN_mixed-eval := MODEL CHECKPOINT EXPERIMENT BASE SKIP_DATA SET
KNOWN_ifeval := MODEL CHECKPOINT RESPONSES PROMPTS OUTPUT MERGE_TARGET CORRECTED ALLOW_MISSING $(IFEVAL_KNOBS) SET
KNOWN_rescore := GENERATIONS ROLLOUTS DATA OUTPUT EXPERIMENT JUDGE REWARD ENDPOINT SET
KNOWN_judge := JUDGE SET
KFP := KFP_HOST KFP_UI KFP_NAMESPACE KFP_TOKEN KFP_TOKEN_FILE KFP_COOKIES KFP_CA KFP_API
KNOWN_compile := CLUSTER ALLOW_TAGS STANDALONE KFP_API
KNOWN_submit := EXPERIMENT STUDY JUDGE SEED START_FROM CHECKPOINT BASE SET ALLOW_TAGS $(KFP)
KNOWN_runs := EXPERIMENT $(KFP)
KNOWN_logs := RUN STEP $(KFP)
KNOWN_report := RUN $(KFP)
KNOWN_cancel := RUN $(KFP)
KNOWN_images := ENGINE SETS REGISTRY PUSH TAG BASE PIN BUILD_FLAGS PUSH_FLAGS
KNOWN_check-judge := JUDGE SET
KNOWN_monitor := RUN EVERY LAST ONCE
KNOWN_analyze := RUN STEPS RANGES CSV
KNOWN_check-workflow := EXPERIMENT POLICY SET
KNOWN_deploy := OVERLAY CONTEXT ALLOW_TAGS PARTIAL WAIT
KNOWN_undeploy := OVERLAY CONTEXT DATA FORCE
EVERYWHERE := VENV PY PYTHON LOCKS TORCH_INDEX GAVEL_STATE SHELL
PARTS := POLICY JUDGE REWARD DATA TRAINING EVALUATION CLUSTER PANEL WORKFLOW
SET_HERE := $(sort $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $(v))),$(v))))
ifneq ($(strip $(MAKECMDGOALS)),)
ifeq ($(strip $(foreach goal,$(MAKECMDGOALS),$(if $(KNOWN_$(goal)),,$(goal)))),)
UNKNOWN := $(filter-out $(EVERYWHERE) MAKE% -% .% $(foreach goal,$(MAKECMDGOALS),$(KNOWN_$(goal))),$(SET_HERE))
ifneq ($(UNKNOWN),)
PART := $(and $(filter SET,$(KNOWN_$(firstword $(MAKECMDGOALS)))),$(firstword $(filter $(PARTS),$(UNKNOWN))))
ADVICE := $(if $(PART),; change the experiment with SET="$(shell echo $(PART) | tr A-Z a-z)=$($(PART))")
$(error make $(MAKECMDGOALS) knows no variable $(firstword $(UNKNOWN))$(ADVICE); it takes $(sort $(foreach goal,$(MAKECMDGOALS),$(KNOWN_$(goal)))))
endif
endif
endif

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | sort | expand -t 20

.PHONY: setup
setup: $(VENV)/.ready ## Make the virtual environment from the lock files (once; needs a network)

$(VENV)/.ready: $(LOCKS)/local.txt $(LOCKS)/models.txt $(LOCKS)/torch.txt pyproject.toml
	@bash images/locks/install.sh "$(PYTHON)" "$(VENV)" "$(TORCH_INDEX)" local

$(VENV)/.ready-dev: $(VENV)/.ready $(LOCKS)/dev.txt
	@bash images/locks/install.sh "$(PYTHON)" "$(VENV)" "$(TORCH_INDEX)" dev

.PHONY: demo
demo: $(VENV)/.ready ## Train, merge, evaluate and report on this machine's CPU (about twelve minutes)
	@$(PY) -m pipelines run quickstart $(SET)

.PHONY: demo-tiny
demo-tiny: $(VENV)/.ready ## The same pipeline on a random model of 140 thousand weights (about two minutes)
	@$(PY) -m pipelines run tiny $(SET)

.PHONY: run
run: $(VENV)/.ready ## Run EXPERIMENT=name-or-file on this machine, with SET="key=value ..." as overrides
	@$(PY) -m pipelines run $(EXPERIMENT) $(SET)

.PHONY: show
show: $(VENV)/.ready ## Print EXPERIMENT with everything resolved, and its hash
	@$(PY) -m pipelines show $(EXPERIMENT) $(SET)

.PHONY: plan
plan: $(VENV)/.ready ## Print nodes, GPUs, calls, hours and cost of EXPERIMENT="a b ..."; refuses what cannot fit: [SET=] [FILL=] [AGAIN=] [CRITERIA=]
	@$(PY) -m pipelines plan $(call option,fill,$(FILL)) $(call option,again,$(AGAIN)) $(call option,criteria,$(CRITERIA)) $(EXPERIMENT) $(SET)

.PHONY: data
data: $(VENV)/.ready ## Prepare the data of EXPERIMENT= alone, for its later runs; prints counts and where they lie: [SET=]
	@$(PY) -m pipelines data $(EXPERIMENT) $(SET)

.PHONY: eval
eval: $(VENV)/.ready ## Evaluate CHECKPOINT= on the held-out prompts: [EXPERIMENT=] [JUDGE=] [BASE=1] [SET=]
	@$(PY) -m pipelines eval "CHECKPOINT=$(CHECKPOINT)" "EXPERIMENT=$(EXPERIMENT)" $(if $(filter-out file,$(origin JUDGE)),"JUDGE=$(JUDGE)") "BASE=$(BASE)" $(SET)

.PHONY: mixed
mixed: $(VENV)/.ready ## Train on math, questions and code and test: MODEL=qwen2.5-7b|qwen3-8b|smollm2-135m|tiny|FOLDER [EXPERIMENT=] [SKIP_DATA=1] [SET=]
	@$(PY) -m pipelines mixed $(call text,MODEL=$(MODEL)) $(call text,EXPERIMENT=$(call given,EXPERIMENT)) \
	  $(call text,SKIP_DATA=$(SKIP_DATA)) $(SET)

.PHONY: study
study: $(VENV)/.ready ## Run the bias study STUDY=quick on this machine: probe judges, train arms, score policies, report: [SET=]
	@$(PY) -m pipelines study $(call text,STUDY=$(STUDY)) $(SET)

.PHONY: study-plan
study-plan: $(VENV)/.ready ## What the bias study STUDY=quick will do, arm by arm, and the smallest effects it can find: [SET=]
	@$(PY) -m pipelines study-plan $(call text,STUDY=$(STUDY)) $(SET)

.PHONY: mixed-eval
mixed-eval: $(VENV)/.ready ## Score MODEL= or CHECKPOINT= on the test sets, without training; EXPERIMENT= may be one of workflows: [EXPERIMENT=] [BASE=1] [SKIP_DATA=1] [SET=]
	@$(PY) -m pipelines mixed-eval $(call text,MODEL=$(MODEL)) $(call text,CHECKPOINT=$(CHECKPOINT)) \
	  $(call text,EXPERIMENT=$(call given,EXPERIMENT)) $(call text,BASE=$(BASE)) $(call text,SKIP_DATA=$(SKIP_DATA)) $(SET)

.PHONY: monitor
monitor: $(VENV)/.ready ## Show how the training RUN= (name, folder or URL) stands, until it is over: [EVERY=seconds] [LAST=steps] [ONCE=1]
	@$(PY) -m components.monitor live $(call text,$(RUN)) $(call option,every,$(EVERY)) $(call option,last,$(LAST)) \
	  $(call flag,once,$(ONCE))

.PHONY: analyze
analyze: $(VENV)/.ready ## Tables of the training RUN= by domain and steps, with intervals: [STEPS=10-20] [RANGES=4] [CSV=folder]
	@$(PY) -m components.monitor analyze $(call text,$(RUN)) $(call option,steps,$(STEPS)) $(call option,ranges,$(RANGES)) \
	  $(call option,csv,$(CSV))

.PHONY: workflow
workflow: $(VENV)/.ready ## Train a policy to write workflows and test it: MODEL=qwen2.5-7b|smollm2-135m|tiny|FOLDER [EXPERIMENT=] [SKIP_DATA=1] [SET=]
	@$(PY) -m pipelines workflow $(call text,MODEL=$(MODEL)) $(call text,EXPERIMENT=$(call given,EXPERIMENT)) \
	  $(call text,SKIP_DATA=$(SKIP_DATA)) $(SET)

.PHONY: merge
merge: $(VENV)/.ready ## Merge CHECKPOINT= into the folder TARGET= and compare its logits: [DTYPE=bfloat16]
	@$(PY) -m components.checkpoint merge $(call text,$(CHECKPOINT)) $(call text,$(TARGET)) $(call option,dtype,$(DTYPE))

.PHONY: ifeval
ifeval: $(VENV)/.ready ## IFEval of MODEL= or CHECKPOINT= on PROMPTS= (or of RESPONSES=); knobs: docs/evaluation.md
	@$(PY) -m components.ifeval --prompts $(call text,$(PROMPTS)) --output $(call text,$(or $(OUTPUT),$(GAVEL_STATE)/ifeval)) \
	  $(call option,model,$(MODEL)) $(call option,checkpoint,$(CHECKPOINT)) $(call option,responses,$(RESPONSES)) \
	  $(call option,merge-target,$(MERGE_TARGET)) $(call option,tensor-parallel,$(TENSOR_PARALLEL)) \
	  $(call option,gpu-memory,$(GPU_MEMORY)) $(call option,context,$(CONTEXT)) $(call option,batch,$(BATCH)) \
	  $(call option,samples,$(SAMPLES)) $(call option,max-tokens,$(MAX_TOKENS)) $(call option,dtype,$(DTYPE)) \
	  $(call option,temperature,$(TEMPERATURE)) $(call option,top-p,$(TOP_P)) $(call option,top-k,$(TOP_K)) \
	  $(call option,backend,$(BACKEND)) $(call option,chat-template,$(CHAT_TEMPLATE)) \
  $(call option,system-prompt,$(SYSTEM_PROMPT)) $(call option,seed,$(SEED)) $(call option,threads,$(THREADS)) \
  $(call option,limit,$(LIMIT)) $(call flag,corrected,$(CORRECTED)) $(call flag,allow-missing,$(ALLOW_MISSING)) $(SET)

.PHONY: rescore
rescore: $(VENV)/.ready ## Score GENERATIONS= or ROLLOUTS= again: DATA= OUTPUT= EXPERIMENT= [JUDGE=] [REWARD=] [ENDPOINT=]
	@$(PY) -m components.score rescore --data $(call text,$(DATA)) --experiment $(call text,$(call given,EXPERIMENT)) \
	  --output $(call text,$(OUTPUT)) $(call option,generations,$(GENERATIONS)) $(call option,rollouts,$(ROLLOUTS)) \
	  $(call option,judge,$(call given,JUDGE)) $(call option,reward,$(REWARD)) \
	  $(call option,endpoint,$(ENDPOINT)) $(SET)

.PHONY: judge
judge: $(VENV)/.ready ## Serve JUDGE=name-or-file on this machine in the foreground: embedded CPU server or plain vLLM
	@exec $(PY) -m components.judge serve --judge $(JUDGE) $(SET)

.PHONY: check-judge
check-judge: $(VENV)/.ready ## Send five calls to JUDGE and say what works; SET="endpoint=URL" for an external one
	@$(PY) -m components.judge check --judge $(JUDGE) $(SET)

.PHONY: check-workflow
check-workflow: $(VENV)/.ready ## Try what workflow RL needs, in seconds; EXPERIMENT= asks its executor model and judge too, POLICY=1 its policy: [SET=]
	@$(PY) -m components.workflow check $(call option,experiment,$(call given,EXPERIMENT)) $(call flag,policy,$(POLICY)) $(SET)

.PHONY: compile
compile: $(VENV)/.ready ## Compile the pipelines to build/*.yaml for CLUSTER=h800: images by digest, or ALLOW_TAGS=1; STANDALONE=1 for a KFP whose pods see no claims
	@$(PY) -m pipelines compile build $(call option,cluster,$(CLUSTER)) $(call flag,allow-tags,$(ALLOW_TAGS)) $(call flag,standalone,$(STANDALONE))

# What is given on the command line is in the environment of these commands; KFP_TOKEN is best set there alone.
.PHONY: submit
submit: $(VENV)/.ready ## Start EXPERIMENT= or STUDY= on the cluster of KFP_HOST=: [JUDGE= SEED= START_FROM= CHECKPOINT= BASE=1 SET=]
	@$(PY) -m pipelines submit $(call text,EXPERIMENT=$(call given,EXPERIMENT)) $(call text,JUDGE=$(call given,JUDGE)) \
	  $(call text,SEED=$(SEED)) $(call text,START_FROM=$(START_FROM)) $(call text,CHECKPOINT=$(CHECKPOINT)) \
	  $(call text,BASE=$(BASE)) $(call text,STUDY=$(call given,STUDY)) $(SET)

.PHONY: runs
runs: $(VENV)/.ready ## List the runs on the cluster of KFP_HOST=: [EXPERIMENT=]
	@$(PY) -m pipelines runs $(call text,$(call given,EXPERIMENT))

.PHONY: logs
logs: $(VENV)/.ready ## What became of the steps of RUN= on the cluster, and the log of one: [STEP=]
	@$(PY) -m pipelines logs $(call text,$(RUN)) $(call option,step,$(STEP))

.PHONY: report
report: $(VENV)/.ready ## Fetch report.html and summary.json of RUN= on the cluster, or the figures of an evaluation
	@$(PY) -m pipelines report $(call text,$(RUN))

.PHONY: cancel
cancel: $(VENV)/.ready ## End RUN= on the cluster
	@$(PY) -m pipelines cancel $(call text,$(RUN))

.PHONY: images
images: ## Build container images: [SETS="tools cpu"] [ENGINE=] [REGISTRY= PUSH=1] [TAG=] [BASE=] [PIN=1] (docs/cluster.md)
	@$(if $(PYTHON),,echo "images: Python 3.11 or 3.12 is needed" >&2; exit 1;) $(PYTHON) images/build.py $(call option,engine,$(ENGINE)) \
	  $(call option,sets,$(SETS)) $(call option,registry,$(REGISTRY)) $(call flag,push,$(PUSH)) $(call option,tag,$(TAG)) \
	  $(call option,base,$(BASE)) $(call flag,pin,$(PIN)) $(call option,torch-index,$(TORCH_INDEX)) \
	  $(call option,build-flags,$(BUILD_FLAGS)) $(call option,push-flags,$(PUSH_FLAGS))

.PHONY: deploy
deploy: $(VENV)/.ready ## Apply the manifests of OVERLAY=dev|h800|FOLDER: [CONTEXT=] [ALLOW_TAGS=1] [PARTIAL=1] [WAIT=seconds]
	@$(PY) -m components.cluster_setup deploy --overlay $(call text,$(OVERLAY)) $(call option,context,$(CONTEXT)) \
	  $(call flag,allow-tags,$(ALLOW_TAGS)) $(call flag,partial,$(PARTIAL)) $(call option,wait,$(WAIT))

.PHONY: undeploy
undeploy: $(VENV)/.ready ## Delete what OVERLAY= brought, and keep claims and Secrets: [CONTEXT=] [DATA=1 deletes them] [FORCE=1]
	@$(PY) -m components.cluster_setup undeploy --overlay $(call text,$(OVERLAY)) $(call option,context,$(CONTEXT)) \
	  $(call flag,data,$(DATA)) $(call flag,force,$(FORCE))

.PHONY: schema
schema: $(VENV)/.ready ## Write JSON schemas of the configuration to build/schema, for editors
	@$(PY) -m pipelines schema build/schema

.PHONY: test
test: $(VENV)/.ready-dev ## Run the tests in JOBS=3 processes, the pipeline on the tiny model among them (some twenty minutes on two cores)
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not smollm and not kills and not arms and not suites and not coverage and not planted and not cluster and not images"

.PHONY: test-fast
test-fast: $(VENV)/.ready-dev ## Only the tests that need no server and no training (about three minutes)
	@$(PY) -m pytest -q -m "not smollm and not kills and not arms and not coverage and not planted and not images and not verl and not pipeline and not s3 and not slow and not cluster"

.PHONY: test-demo
test-demo: $(VENV)/.ready-dev ## A short form of the demo with the real small model (about eight minutes)
	@$(PY) -m pytest -q -m smollm

.PHONY: test-suites
test-suites: $(VENV)/.ready-dev ## Judges and writers killed many times, IFEval beside another implementation, merges of several ranks (some five minutes)
	@$(PY) -m pytest -q -m suites

.PHONY: test-coverage
test-coverage: $(VENV)/.ready-dev ## How often the bias study's intervals hold what was planted, a thousand times each (about 75 minutes of one core)
	@$(PY) -m pytest -q -n $(JOBS) -m coverage

.PHONY: test-planted
test-planted: $(VENV)/.ready-dev ## A whole study whose answer is known: planted biases show in the policies, and the study says so (some twenty minutes)
	@$(PY) -m pytest -q -m planted

.PHONY: test-arms
test-arms: $(VENV)/.ready-dev ## Train the judge study's four arms and others on the tiny model (some 35 minutes): [ONLY=pytest's -k]
	@$(PY) -m pytest -q -m arms $(if $(ONLY),-k $(call text,$(ONLY)))

.PHONY: test-kills
test-kills: $(VENV)/.ready-dev ## Kill the tiny pipeline at ten random points and go on; prompts in order after a kill (up to an hour)
	@$(PY) -m pytest -q -s -m kills

.PHONY: test-cluster
test-cluster: $(VENV)/.ready-dev ## Build a real Kubernetes API server once (Debian, root; some ten minutes), and test against it
	@GAVEL_KUBE_BIN=$$(bash tests/cluster/build.sh) && export GAVEL_KUBE_BIN && $(PY) -m pytest -q -m cluster

.PHONY: test-images
test-images: $(VENV)/.ready-dev ## Build and run the tools and CPU images on a base made here (root, podman, mmdebstrap; some ten minutes)
	@$(PY) -m pytest -q -m images tests/images

.PHONY: bench
bench: $(VENV)/.ready-dev ## Measure, and print ratios to what one would use instead
	@for file in tests/bench/*.py; do echo "== $$file"; $(PY) $$file; done

.PHONY: check
check: $(VENV)/.ready-dev ## Lint, format check, types, secrets
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy && $(PY) .ci/scan_tree.py

.PHONY: format
format: $(VENV)/.ready-dev ## Format the code
	@$(VENV)/bin/ruff check --fix . ; $(VENV)/bin/ruff format .

.PHONY: locks
locks: ## Write the lock files anew from images/locks/*.in (needs uv)
	@bash $(LOCKS)/refresh.sh

.PHONY: stop
stop: $(VENV)/.ready ## End local services that a killed run left behind
	@$(PY) -m pipelines stop

.PHONY: clean
clean: ## Remove runs, results and caches of this checkout, but not the environment and the converted models
	@if [ -x $(PY) ] && [ -f $(VENV)/.ready ]; then $(PY) -m pipelines stop; fi
	@if [ -d "$(GAVEL_STATE)" ]; then cd "$(GAVEL_STATE)" && rm -rf store s3 work kfp runs logs reports judges services lock; fi
	@rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis; find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

.PHONY: clean-venv
clean-venv: ## Remove the virtual environment alone
	@rm -rf "$(VENV)" *.egg-info

.PHONY: clean-all
clean-all: clean ## Also remove the virtual environment and the converted models
	@rm -rf "$(VENV)" *.egg-info "$(GAVEL_STATE)/cache"; rmdir "$(GAVEL_STATE)" 2>/dev/null || true
