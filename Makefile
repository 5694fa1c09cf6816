# Development commands; `make` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

.PHONY: help build release demo test lint format soak fuzz simulate bench bench-quick clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build everything for debugging
	@scripts/setup build
	swift build --build-tests

release: ## build .build/release/ferry with Swift's libraries linked statically
	@scripts/setup build
	swift build -c release --static-swift-stdlib

demo: ## upload real files, kill ferry halfway, resume, and show what happened
	@scripts/setup demo
	swift build -c release --static-swift-stdlib --product ferry
	swift build -c release --static-swift-stdlib --product ferry-receiver
	@scripts/demo

test: ## lint and run all tests, including those against the servers of docs/servers.md
	@scripts/setup test
	swift build --build-tests
	@$(MAKE) lint
	.build/debug/ferry check jobs/*.yaml examples/*.yaml
	# The groups run one after another: on two cores, a suite that blocks its threads would starve another suite's servers.
	@scripts/swift-test --skip 'EndToEndTests|ReceiverTests'
	@scripts/swift-test --filter ReceiverTests
	# Each of these tests starts processes. At most six run in parallel, so that they do not time out.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 scripts/swift-test --filter EndToEndTests

lint: ## check format, imports, folders, documentation, links, tables, wording and the patches in Tests/Bugs
	swift format lint --strict --recursive --configuration .swift-format Sources Tests Fuzz Package.swift
	scripts/lint-imports
	scripts/lint-folders
	scripts/lint-readme
	scripts/lint-claims docs/internals/*-tests.md
	scripts/lint-links
	scripts/lint-tables
	scripts/lint-bugs
	scripts/lint-words

format: ## format the sources in place
	swift format --in-place --recursive --configuration .swift-format Sources Tests Fuzz Package.swift

soak: ## kill ferry 1,000 times for each kind of job, fail every write, simulate a power cut at every sync, run shards on failing nodes (FERRY_SEED=2026)
	@scripts/setup test soak
	@scripts/soak

fuzz: ## read a million inputs that libFuzzer generates (FERRY_FUZZ_RUNS=1000000)
	@scripts/fuzz

simulate: ## run the scheduler in random simulated worlds (FERRY_SIMULATE=60s FERRY_SEED=0)
	@scripts/setup build
	@scripts/simulate

bench: ## compare ferry with its peers, and write docs/performance.md
	@scripts/setup bench
	swift build -c release --static-swift-stdlib --product ferry
	@python3 Benchmarks/bench.py --page

bench-quick: ## try the benchmark, and check the number of instructions for each request
	@scripts/setup bench
	swift build -c release --static-swift-stdlib --product ferry
	# Only this build lacks the data of ICU (CUnicodeData), so test a time zone with it.
	.build/release/ferry plan examples/working-hours.yaml --state .build/no-state --at '2026-03-29T10:00[Europe/Berlin]' >/dev/null
	@python3 Benchmarks/bench.py --quick --gate

clean: ## remove the build products
	swift package clean
