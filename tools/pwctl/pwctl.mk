# SPDX-License-Identifier: GPL-2.0
# pwctl; included by tools/Makefile.

pwctl_src  := $(sort $(wildcard $(tools)/pwctl/*.c))
PWCTL_LIBS := -ljansson -lmnl -lyaml -lncurses -lm

$(O)/pwctl: $(pwctl_src) $(wildcard $(tools)/pwctl/*.h) $(tools)/pwctl/view.html $(wildcard $(tools)/lib/*.h) $(wildcard $(TOP)/uapi/linux/*.h) $(O)/libpacketway.a $(O)/opt/libpwcore.a $(O)/libpwatm.a \
		$(wildcard $(tools)/libpwatm/*.h) $(tools)/libpwatm/solve.c $(tools)/pwmodel/topo_file.c $(tools)/pwmodel/topo_file.h
	$(CC) -std=gnu11 -g $(WARN) -Wno-format-truncation -Wno-missing-field-initializers $(OPT) -D_GNU_SOURCE -I$(TOP)/uapi -I$(tools)/lib \
		-I$(tools)/testing/shim -I$(CORE) -I$(tools)/libpwatm -I$(tools)/pwmodel -DVIEW_HTML='"$(tools)/pwctl/view.html"' -Wl,--export-dynamic-symbol='poets_*' \
		-o $@ $(pwctl_src) $(tools)/libpwatm/solve.c $(tools)/pwmodel/topo_file.c $(O)/libpacketway.a $(O)/opt/libpwcore.a $(O)/libpwatm.a $(PWCTL_LIBS)

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
