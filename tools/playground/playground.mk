# SPDX-License-Identifier: GPL-2.0
# A page with the models in it, as WebAssembly; included by tools/Makefile. It needs clang,
# lld and wasi-libc, therefore it is not part of "all".

play_core  := $(sort $(wildcard $(CORE)/ring/*.c))
# wasi-libc has no headers of the kernel: those of this machine, after its own
play_multi  = $(shell gcc -print-multiarch 2>/dev/null)
play_flags  = --target=wasm32-wasi --sysroot=/usr -std=gnu11 $(WARN) -O2 -fvisibility=hidden -nostartfiles \
	$(INC) -idirafter /usr/include/$(play_multi) -idirafter /usr/include

$(O)/playground.wasm: $(tools)/playground/playground.mk $(tools)/playground/play.c $(play_core) $(core_hdr)
	@mkdir -p $(@D)
	$(CLANG) $(play_flags) -Wl,--no-entry,--export-dynamic,--strip-all,-z,stack-size=65536 -nodefaultlibs -o $@ $(tools)/playground/play.c $(play_core) -lc
$(O)/playground.html: $(O)/playground.wasm $(tools)/playground/play.html
	base64 -w 0 $(O)/playground.wasm >$@.b64
	sed -e '/@WASM@/{s/@WASM@.*//;r $@.b64' -e 'a\' -e '</script>' -e '}' $(tools)/playground/play.html >$@.part
	rm -f $@.b64
	mv $@.part $@

.PHONY: playground
playground: $(O)/playground.html
