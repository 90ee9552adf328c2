# Two commands matter: `make run` gives you a Kafka cluster, `make test` checks
# everything. Both set up what they need first.

CARGO ?= cargo
JAR := broker-jar/target/castellan-broker.jar
CHECK_JAR := checker/java/target/castellan-check.jar
QUICK := target/quick/castellan
# Clippy looks at our own code while it is built; on its own it would have every
# dependency read once more. Most of these builds are whole ones, which are done
# sooner without notes for the next; C too is built for tests, not for speed.
LINTED := CFLAGS='-O1 -g0' CXXFLAGS='-O1 -g0' CARGO_INCREMENTAL=0 RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__

# What only running tests need is fetched while they are built.
BUILD_TESTS := scripts/beside.sh 19 'scripts/setup.sh test' $(CARGO) test --workspace --locked --no-run --tests

.PHONY: run build castellan-check test test-all bench jar setup setup-build setup-test lint doc audit \
	format clean

# Built quickly: a release build (`make build`) takes more than twice as long.
run: setup ## Start Castellan with one cluster; Ctrl-C leaves the cluster running
	@CARGO='$(CARGO)' scripts/build-quick.sh
	$(QUICK) up $(ARGS)

build: setup $(JAR) ## Leaves target/release/castellan
	$(CARGO) build --release --locked --bin castellan

castellan-check: setup-test $(JAR) $(CHECK_JAR) ## Leaves target/release/castellan-check; see docs/checker.md
	$(CARGO) build --release --locked --bin castellan-check

# A container may have no control groups to write to; `test-all` wants everything.
test: export CASTELLAN_MAY_SKIP ?= groups
test: setup-build $(JAR) $(CHECK_JAR) format ## Everything that must hold, with one real cluster
	$(LINTED) $(BUILD_TESTS)
	$(LINTED) CARGO='$(CARGO)' scripts/test.sh

test-all: setup-build $(JAR) $(CHECK_JAR) format ## The long version, or PARTS="rolls alarms" of it
	$(LINTED) $(BUILD_TESTS)
	$(LINTED) CARGO='$(CARGO)' scripts/test-all.sh $(PARTS)

bench: setup-test build $(CHECK_JAR) ## Ratios taken in one run; see docs/benchmarks.md
	$(CARGO) run --release --locked -p bench -- $(PARTS)

format:
	$(CARGO) fmt --all --check

lint: $(JAR) $(CHECK_JAR) format doc ## What `make test` says of the code, without building it
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc: $(JAR) $(CHECK_JAR) ## Links between comments lead somewhere
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --locked

audit: ## Licences, sources and bans of dependencies
	@CARGO='$(CARGO)' scripts/audit.sh

jar: $(JAR) $(CHECK_JAR)

$(JAR): broker-jar/pom.xml $(shell find broker-jar/src -name '*.java' 2>/dev/null)
	mvn -q -B -f broker-jar package
	@touch $(JAR)

$(CHECK_JAR): checker/java/pom.xml $(shell find checker/java/src -name '*.java' 2>/dev/null)
	mvn -q -B -f checker/java package
	@touch $(CHECK_JAR)

setup:
	@scripts/setup.sh run

setup-build:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh test

clean:
	$(CARGO) clean
	rm -rf broker-jar/target checker/java/target
