# The commands for work on this repository. `make help` prints the list.

SHELL := bash
.DEFAULT_GOAL := help

# Variables that can be set on the command line, as in `make bench BENCH=Claim`.
TESTFLAGS ?=
BENCH ?=
FUZZTIME ?= 10s
MINUTES ?= 10

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## The program, to bin/hourbell
	GOWORK=off CGO_ENABLED=0 go -C cmd/hourbell build -trimpath -tags lockstores -o ../../bin/hourbell .

# Two modules at a time, and -parallel=4, because the tests that run in parallel wait most of the time. With three modules at a time,
# two processors are overloaded, and the tests take as long.
.PHONY: test
test: ## The tests of every module, most with the race detector, on throw-away servers; TESTFLAGS for go test
	@scripts/install-deps cc chromium cron curl promtool
	@JOBS=2 scripts/with-servers scripts/each-module $(CURDIR)/scripts/go-race test -timeout=60m -parallel=4 $(TESTFLAGS) ./...

# The numbers whose defaults are small, so that make test is quick.
.PHONY: test-long
test-long: export HOURBELL_STORETEST_OPS ?= 50000
test-long: export HOURBELL_STORETEST_RACES ?= 50
test-long: export HOURBELL_STORETEST_FAULTS ?= 150
test-long: export HOURBELL_LOCKTEST_OPS ?= 2000
test-long: export HOURBELL_PLANTEST_JOBS ?= 1000000
test-long: export HOURBELL_PROOF_GRAPH ?= 1000
test-long: export HOURBELL_PROOF_VISITS ?= 2000
test-long: export HOURBELL_RACE ?= all
test-long: export RECUR_ORACLE ?= 100000
test-long: test ## As test, with more random operations, races, failed statements and rows

.PHONY: test-short
test-short: ## The quick tests only, without servers
	@go test -short -p 4 -parallel 4 $(TESTFLAGS) $$(scripts/modules | sed "s|$$|/...|")

.PHONY: test-postgres-versions
test-postgres-versions: ## The tests of the PostgreSQL driver on versions 13 to 18; writes docs/versions.md
	@scripts/install-deps cc
	@scripts/test-postgres-versions

.PHONY: proof
proof: ## The fault and history tests with real processes, on throw-away servers
	@scripts/install-deps cc cron
	@cd proof && HOURBELL_RACE=all ../scripts/with-servers ../scripts/go-race test -count=1 -timeout=90m -v $(TESTFLAGS) ./...

.PHONY: sim
sim: ## Simulated clusters from fresh seeds for MINUTES (10): what a failure prints can be replayed by its seed
	@cd proof && go test ./sim -count=1 -timeout=0 -v -run FreshSeeds -first 0 -minutes $(MINUTES) $(TESTFLAGS)

.PHONY: mutate
mutate: ## Named faults put into the drivers one by one; the tests must notice each
	@scripts/with-servers go run ./proof/mutate

.PHONY: fuzz
fuzz: ## Every fuzz test for FUZZTIME (10s)
	@scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## Compare with other queues (see docs/benchmarks.md), over a network with BENCH_DELAY=500us; with BENCH=Claim, the Go benchmarks that match
ifeq ($(BENCH),)
	@scripts/install-deps postgres
	@cd bench && BENCH_POSTGRES_BIN=$$(../scripts/postgres-bin) HOURBELL_TEST_POSTGRES_BIN=$$PWD/postgres HOURBELL_TEST_FSYNC=on \
		HOURBELL_TEST_REDIS_URL=none HOURBELL_TEST_MONGO_URL=none ../scripts/with-servers go run ./peers
else
	@HOURBELL_TEST_FSYNC=on scripts/with-servers scripts/each-module go test -run '^$$' -bench '$(BENCH)' -benchmem $(TESTFLAGS) ./...
endif

.PHONY: screenshots
screenshots: ## The pictures of the pages in docs/images, with a browser
	@scripts/install-deps chromium
	@cd dashboard/walk && HOURBELL_SCREENSHOTS=$(CURDIR)/docs/images go test -count=1 -timeout=60m .

.PHONY: docs
docs: ## The site of the documentation, to bin/site, with a search that works offline
	@scripts/install-deps venv
	@scripts/docs

.PHONY: see
see: ## A browser on all pages, schemathesis on all routes of the API, a real OpenTelemetry Collector; bin/see has what they saw
	@scripts/install-deps chromium venv
	@scripts/see

.PHONY: servers
servers: ## Throw-away servers for a bare go test, until Ctrl-C
	@scripts/with-servers

.PHONY: check
check: verify lint test ## Everything that CI runs

# go vet also finds what does not compile, in tests too. It has the flags of the tests, which reuse the compiled packages: SQLite
# in Go takes a minute to compile.
.PHONY: verify
verify: ## Format, imports, go.mod files, and each module on its own
	@scripts/install-deps cc
	@gofumpt=$$(scripts/tool gofumpt) && files=$$("$$gofumpt" -l .) && \
		{ [ -z "$$files" ] || { echo "make fmt would change:"; echo "$$files"; exit 1; }; }
	@diff <(scripts/modules) <(awk '/^\t\./ { print $$1 }' go.work) || { echo "go.work does not list every module"; exit 1; }
	@scripts/check-imports
	@scripts/check-paths
	@scripts/statements
	@scripts/words --check 0.1 >/dev/null
	@JOBS=4 scripts/each-module env GOWORK=off go mod tidy -diff
	@SORT=plain scripts/each-module $(CURDIR)/scripts/go-race vet ./... & \
		SORT=race scripts/each-module $(CURDIR)/scripts/go-race vet ./...; raced=$$?; wait $$! && exit $$raced
	@cd cmd/hourbell && GOWORK=off CGO_ENABLED=0 go vet -tags lockstores ./internal/stores

.PHONY: release
release: ## All files of a release, to bin/release: programs, packages, images, digests
	@scripts/install-deps ca-certificates
	@scripts/release

.PHONY: release-check
release-check: ## Builds a release and tries it: deb, upgrade, removal, rpm, image, unit, manifests, tags, API; as root, in a container
	@scripts/release-check

.PHONY: lint
lint: ## golangci-lint, and shellcheck for the scripts; LINTFLAGS for golangci-lint run
	@scripts/install-deps shellcheck
	@shellcheck .ci/run scripts/* deploy/packages/*.sh
	@lint=$$(scripts/tool golangci-lint) && scripts/each-module "$$lint" run $(LINTFLAGS) ./...

.PHONY: fmt
fmt: ## Format all Go files with gofumpt
	@gofumpt=$$(scripts/tool gofumpt) && "$$gofumpt" -w .
