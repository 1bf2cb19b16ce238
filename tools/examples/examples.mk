# SPDX-License-Identifier: GPL-2.0
# Examples of libpacketway; included by tools/Makefile.

examples := $(sort $(notdir $(basename $(wildcard $(tools)/examples/*.c))))

$(O)/examples/%: $(tools)/examples/%.c $(tools)/examples/ring.h $(tools)/lib/packetway.h $(O)/libpacketway.so
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -I$(TOP)/uapi -I$(tools)/lib -o $@ $< \
		-L$(O) -lpacketway -Wl,-rpath,'$$ORIGIN/..'

.PHONY: examples
examples: $(examples:%=$(O)/examples/%)
