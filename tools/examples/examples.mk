# SPDX-License-Identifier: GPL-2.0
# Examples of libpacketway; included by tools/Makefile.

examples := $(sort $(notdir $(basename $(wildcard $(tools)/examples/*.c))))

$(O)/examples/%: $(tools)/examples/%.c $(wildcard $(tools)/examples/*.h) $(tools)/lib/packetway.h $(O)/libpacketway.so
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -I$(TOP)/uapi -I$(tools)/lib -o $@ $< \
		-L$(O) -lpacketway -Wl,-rpath,'$$ORIGIN/..'

.PHONY: examples
examples: $(examples:%=$(O)/examples/%)

# POETS applications: the file and its handlers side by side in $(O)/poets
poets_apps := $(sort $(notdir $(basename $(wildcard $(tools)/examples/poets/*.c))))

$(O)/poets/%.so: $(tools)/examples/poets/%.c $(tools)/lib/packetway_poets.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -I$(tools)/lib -shared -fPIC -o $@ $<
$(O)/poets/%.json: $(tools)/examples/poets/%.json
	@mkdir -p $(@D)
	cp $< $@

.PHONY: poets
poets: $(poets_apps:%=$(O)/poets/%.so) $(poets_apps:%=$(O)/poets/%.json)
examples: poets
