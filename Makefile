# CMake does the work. See CONTRIBUTING.md.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.PHONY: all demo test test-faults bench fuzz install format clean
.NOTPARALLEL:

all: # build/release/sonde, libsonde-rt.so, libsonde.so, example_*
	@tools/setup.sh --check build
	@tools/build.sh release product examples

demo: # record a small training program and print its report
	@tools/setup.sh build
	@tools/build.sh release product examples
	OMP_WAIT_POLICY=passive build/release/sonde record -o build/demo.sonde --report 12 -- build/release/example_train
	@echo
	build/release/sonde bottlenecks build/demo.sonde
	@echo
	@echo 'The recording is build/demo.sonde. Next:'
	@echo '  build/release/sonde serve --open build/demo.sonde'
	@echo '  build/release/sonde report --tree build/demo.sonde'
	@echo '  build/release/sonde summary build/demo.sonde'
	@echo '  build/release/sonde --help'

test: # all tests, with and without sanitizers
	@tools/setup.sh test
	@tools/setup.sh browser || echo 'test: no browser, so its tests are skipped'
	@tools/test.sh

test-faults: # kills, full disks and forks, for a long time
	@tools/setup.sh test
	@tools/build.sh release all
	SONDE_FAULTS=long ctest --test-dir build/release -L faults --output-on-failure --timeout 7200

bench: # Sonde beside its peers
	@tools/setup.sh bench
	@tools/build.sh release product benchmarks
	@bench/run.sh

fuzz: # each parser for FUZZ_SECONDS
	@tools/setup.sh fuzz
	@tools/build.sh fuzz fuzzers
	@tools/fuzz.sh $(FUZZ_SECONDS)

install: all # make install PREFIX=DIR; honors DESTDIR
	cmake --install build/release --prefix '$(PREFIX)'

format: # format the code
	@tools/format.sh

clean:
	rm -rf build
