# SPDX-License-Identifier: GPL-2.0
# pwctl; included by tools/Makefile.

pwctl_src  := $(sort $(wildcard $(tools)/pwctl/*.c))
PWCTL_LIBS := -ljansson -lmnl -lyaml -lncurses -lm

# sources of others, for what is not in a library
pwctl_obj  := $(pwctl_src:$(tools)/pwctl/%.c=$(O)/pwctl.d/%.o) $(O)/pwctl.d/libpwatm/solve.o $(O)/pwctl.d/pwmodel/topo_file.o
pwctl_cc    = $(CC) -std=gnu11 -g $(WARN) -Wno-format-truncation -Wno-missing-field-initializers $(OPT) -D_GNU_SOURCE -I$(TOP)/uapi -I$(tools)/lib \
	-I$(tools)/testing/shim -I$(CORE) -I$(tools)/libpwatm -I$(tools)/pwmodel -DVIEW_HTML='"$(tools)/pwctl/view.html"'
pwctl_hdr  := $(wildcard $(tools)/pwctl/*.h) $(tools)/pwctl/view.html $(wildcard $(tools)/lib/*.h) $(core_hdr) \
	$(wildcard $(tools)/libpwatm/*.h) $(tools)/pwmodel/topo_file.h

$(O)/pwctl.d/%.o: $(tools)/pwctl/%.c $(pwctl_hdr)
	@mkdir -p $(@D)
	$(pwctl_cc) -c -o $@ $<
$(O)/pwctl.d/libpwatm/solve.o: $(tools)/libpwatm/solve.c $(pwctl_hdr)
	@mkdir -p $(@D)
	$(pwctl_cc) -c -o $@ $<
$(O)/pwctl.d/pwmodel/topo_file.o: $(tools)/pwmodel/topo_file.c $(pwctl_hdr)
	@mkdir -p $(@D)
	$(pwctl_cc) -c -o $@ $<
$(O)/pwctl: $(pwctl_obj) $(O)/libpacketway.a $(O)/opt/libpwcore.a $(O)/libpwatm.a
	$(pwctl_cc) -Wl,--export-dynamic-symbol='poets_*' -o $@ $(pwctl_obj) $(O)/libpacketway.a $(O)/opt/libpwcore.a $(O)/libpwatm.a $(PWCTL_LIBS)

.PHONY: pwctl pwctl-install
pwctl: $(O)/pwctl
pwctl-install: pwctl
	install -D -m 755 $(O)/pwctl $(DESTDIR)$(PREFIX)/sbin/pwctl
	install -D -m 644 $(tools)/completion/pwctl $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pwctl
	for m in $(tools)/man/*.[0-9]; do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; \
	done
	install -D -m 644 $(tools)/grafana/packetway.json $(DESTDIR)$(PREFIX)/share/packetway/grafana/packetway.json
	install -d $(DESTDIR)$(PREFIX)/share/packetway/labs
	install -m 644 $(TOP)/Documentation/labs/*.yaml $(DESTDIR)$(PREFIX)/share/packetway/labs/
	install -d $(DESTDIR)$(PREFIX)/share/packetway/experiments
	install -m 644 $(tools)/experiments/*.yaml $(DESTDIR)$(PREFIX)/share/packetway/experiments/
