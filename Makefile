# SPDX-License-Identifier: GPL-2.0
# For people; the objects of the module are listed in Kbuild.

TOP   := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
O     ?= $(TOP)/build
KDIR  ?=
S     := $(TOP)/scripts

# percent of the counts of all tests (a soak: 1000); scripts/lib/scale divides it by kernel and build
SCALE ?=
FUZZ_SECONDS ?= 5
# selftests to run (T="a b") and kernels (K="6.1 6.12"), all by default
T ?=
K ?= 6.1 6.12
# architecture of the guests, this machine's by default; another one is emulated, with a
# user land of its own
ARCH ?=
# flake: so often; matrix: kernels and architectures
N ?= 20
MATRIX_K ?= 6.1 6.12 trixie 6.18 stable sid rc
MATRIX_ARCH ?= arm64 amd64 s390x
export PW_ARCH := $(ARCH)

export O FUZZ_SECONDS

# What was compiled before, here or in an earlier checkout at this place, comes from the cache of the
# kernels. Debian's folder has a link for every compiler that is installed.
ccache := $(wildcard /usr/lib/ccache)
ifneq ($(ccache),)
export PATH := $(ccache):$(PATH)
export CCACHE_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/packetway/ccache
export CCACHE_BASEDIR := $(TOP)
export CCACHE_MAXSIZE := 3G
endif
ifneq ($(SCALE),)
export PW_SCALE := $(SCALE)
endif

.DEFAULT_GOAL := module
.PHONY: module tools selftests demo setup test test-user test-vm test-more test-debug test-kcsan check matrix flake fuzz coverage \
	bench soak install dkms-install deb image playground help clean

module:
	@ko=$$($(S)/pkg/build-module $(KDIR)) && cp "$$ko" $(TOP)/drivers/net/packetway/packetway.ko && \
		echo drivers/net/packetway/packetway.ko

tools:
	@$(MAKE) -s -j2 -C tools O=$(O) all

selftests:
	@$(MAKE) -s -j2 -C selftests O=$(O) all

setup:
	@$(S)/setup

demo: setup
	@$(MAKE) -s tools selftests
	@$(S)/vm --kernel 6.12 -- $(TOP)/selftests/demo.sh

check:
	@$(S)/check

test-user:
	@$(MAKE) -s tools
	@$(MAKE) -s -j2 -C tools O=$(O) bins
	@$(MAKE) -s -C tools O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) test-user fuzz

test-vm:
	@$(S)/pkg/build-user $(if $(T),,--full)
	@$(S)/lib/test-guests vm "$(K)" $(T)

test-more:
	@$(S)/lib/test-more

test-debug:
	@$(MAKE) -s tools selftests
	@$(S)/lib/test-guests debug debug $(T)

test: setup
	@$(S)/test

matrix:
	@$(S)/setup $(if $(filter s390x,$(MATRIX_ARCH)),--matrix)
	@$(S)/matrix "$(MATRIX_K)" "$(MATRIX_ARCH)" $(T)

flake:
	@$(S)/pkg/build-user
	@$(S)/flake "$(firstword $(K))" $(N) $(T)

test-kcsan:
	@$(MAKE) -s tools selftests
	@$(S)/test-kcsan $(T)

# SECONDS is a variable of bash, hence the argument
fuzz:
	@$(S)/fuzz --seconds $(or $(SECONDS),600)

coverage:
	@$(S)/coverage $(if $(SECONDS),--fuzz $(SECONDS)) $(T)

bench:
	@$(MAKE) -s tools selftests
	@st=0; $(MAKE) -s -C tools O=$(O) bench || st=1; $(S)/bench || st=1; exit $$st

soak: setup
	@$(MAKE) -s tools selftests
	@$(S)/soak

install:
	@$(S)/pkg/install-module $(KDIR)
	@$(MAKE) -s -C tools O=$(O) install

dkms-install:
	@$(S)/pkg/dkms-install

deb:
	@$(S)/pkg/make-deb

image:
	@$(S)/pkg/make-image

playground:
	@$(MAKE) -s -C tools O=$(O) playground
	@echo $(O)/playground.html

help:
	@echo 'make               module for the running kernel (or KDIR=DIRECTORY)'
	@echo 'make tools         user-space tools into build/'
	@echo 'make demo          a guest with the module: see it work'
	@echo 'make test          check, test-user, test-vm and test-debug with a summary'
	@echo 'make test-user     unit tests and fuzzers of the pure cores'
	@echo 'make test-vm       selftests on the packaged kernels (T="name ..." K="6.1 6.12" ARCH=amd64)'
	@echo 'make test-debug    KUnit, selftests and kmemleak on the debug kernel (T="name ...")'
	@echo 'make matrix        build, boot and selftests on all kernels and architectures, and a big-endian one'
	@echo 'make flake T=NAME  that test N times beside a CPU hog, and how often it failed'
	@echo 'make test-kcsan    selftests on the KCSAN kernel, and a table of races (T="name ...")'
	@echo 'make fuzz          the fuzzer of the kernel surface on the debug kernel (SECONDS=600)'
	@echo 'make coverage      line coverage of the driver by selftests and fuzzer (SECONDS=, T=)'
	@echo 'make check         checkpatch, sparse, W=1, clang, Coccinelle, shellcheck, kernel-doc, licences'
	@echo 'make bench         measurements (instruction-counting guests)'
	@echo 'make soak          everything with full counts, the fuzzer, and KCSAN; goes on where it was ended'
	@echo '                   (SCALE=1000 STEPS="name ..." FRESH=1)'
	@echo 'make install       module and tools into this system (DESTDIR=)'
	@echo 'make dkms-install  register with DKMS, rebuild with every kernel'
	@echo 'make deb           Debian packages into build/deb: module source, tools, library'
	@echo 'make image         build/image/packetway-ci.tar, a container whose pw-ci runs a command in a guest'
	@echo 'make playground    build/playground.html, the model of the ring in a page, as WebAssembly'
	@echo 'make clean         remove build/ (kernels stay in the cache)'
	@echo 'scripts/vm --help  the guest runner; scripts/setup installs what all this needs'

clean:
	rm -rf $(O)
