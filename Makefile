# The commands of CONTRIBUTING.md. Tools that are not Go's own are pinned here.
GO          ?= go
BIN         := $(CURDIR)/bin
CACHE       ?= $(CURDIR)/.cache
ADDR        ?= 127.0.0.1:8080
SQLC        := github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1
OAPI        := github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
LINT        := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULN        := golang.org/x/vuln/cmd/govulncheck@v1.9.0
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: run build test peers test-peers bench lint vuln generate

run: build ## start the demo: everything it needs comes with it
	$(BIN)/sluice demo --addr $(ADDR) --data .sluice --cache $(CACHE)

build: ## build bin/sluice
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o $(BIN)/sluice ./cmd/sluice

test: ## everything, against real Postgres, git and registry
	$(GO) test -timeout 20m ./...

peers: ## build the real servers that test-peers runs against, into a cache outside the clone
	for build in test/peers/*/build.sh; do GO="$(GO)" sh $$build || exit 1; done

test-peers: ## what needs the real servers of `make peers`, and fails without them
	$(GO) test -tags peers -p 1 -timeout 30m ./internal/prhost/gitea ./internal/webhook ./test/gitea ./test/kube ./test/peers/realkube

# GOGC is what cmd/sluice sets; the processes beside it inherit it.
bench: ## benchmarks, as ratios against something real in the same run
	GOGC=400 $(GO) test -run '^$$' -bench . -benchtime 1x -timeout 30m ./...

lint:
	$(GO) run $(LINT) run ./...

vuln:
	$(GO) run $(VULN) ./...

generate: ## queries and API types
	$(GO) run $(SQLC) generate
	$(GO) run $(OAPI) -config api/oapi-types.yaml api/openapi.yaml
