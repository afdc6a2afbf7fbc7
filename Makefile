# SPDX-License-Identifier: Apache-2.0
# The short front to CMake. The long one: cmake --preset dev, and see CMakePresets.json.

PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: all test sim sim-mutants stress demo test-e2e oracle soak bench
.PHONY: docs install uninstall format lint clean help

all: ## build the library (build/release)
	@tools/setup --check build
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

test: ## install missing packages, build, and run every test: plain, ASan+UBSan, TSan
	@tools/setup test
	@tools/run-tests $(if $(CI),--rerun)

SEEDS ?= 100000
FROM ?= 1

sim: ## run the simulator: SEEDS=100000 seeds, FROM=1 on; and every order of a few operations
	@tools/setup --check test
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev --target sim test_leader test_leader_random test_manager
	@tools/run-sim $(FROM) $(SEEDS)
	@build/dev/tests/sim --small

sim-mutants: ## reintroduce known bugs, one by one; the simulator must find each
	@tools/setup --check test
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev --target sim test_leader test_leader_random test_manager
	@tools/check-mutants

MINUTES ?=
PRESET ?= tsan

stress: ## random calls of the API from many threads; MINUTES=10, PRESET=tsan (or asan, dev)
	@tools/setup --check test
	@cmake --preset $(PRESET) --log-level=WARNING
	@cmake --build --preset $(PRESET) --target stress
	@setarch -R build/$(PRESET)/tests/stress --seconds $$((60 * $(or $(MINUTES),10)))

DEMO ?=

demo: ## install missing packages, build, and run the demo; DEMO="--seconds 60" for options
	@tools/setup demo
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release --target kinformer_cli
	@build/release/src/kinformer demo $(DEMO)

TESTS ?=

test-e2e: ## end-to-end tests on a real API server; TESTS="words in names of tests"
	@tools/setup test browser
	@tools/run-e2e $(if $(CI),--rerun) $(TESTS)

oracle: ## kinformer and client-go on a real API server, under faults; MINUTES=10
	@tools/setup test
	@tools/run-oracle --minutes $(or $(MINUTES),10)

soak: ## the same with kinformer alone: check for growth of memory and descriptors; MINUTES=30
	@tools/setup test
	@tools/run-soak --minutes $(or $(MINUTES),30)

BENCH ?=

bench: ## compare with client-go and others on a real API server, 25 min; BENCH=--quick, --scale
	@bench/cluster/run $(BENCH)

docs: ## write the HTML reference of the functions to build/docs
	@tools/setup --check build
	@python3 -B tools/gen-reference --html build/docs
	@echo "build/docs/index.html"

install: ## build and install; PREFIX=/usr/local, DESTDIR=
	@tools/setup --check build
	@cmake --preset release --log-level=WARNING -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	@cmake --build --preset release
	@DESTDIR="$(DESTDIR)" cmake --install build/release

uninstall: ## remove the installed files; DESTDIR= as for install
	@tools/uninstall build/release "$(DESTDIR)"

format: ## format every C and C++ file
	@tools/setup lint
	@tools/format

lint: ## check the format, and run gcc's static analyzer
	@tools/setup lint
	@tools/format --check
	@tools/analyze

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /\1|/p' $(firstword $(MAKEFILE_LIST)) | \
	    while IFS='|' read -r name text; do printf 'make %-11s %s\n' "$$name" "$$text"; done
