# SPDX-License-Identifier: GPL-2.0
# The Python package and libpwcore.so.0, the models for it; included by tools/Makefile.

# where Debian's Python looks: packages and what an administrator installs
PYDIR   ?= $(if $(filter /usr,$(PREFIX)),/usr/lib/python3,$(PREFIX)/lib/python$(shell \
	/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])'))/dist-packages
py_core := $(core_src:$(CORE)/%.c=$(O)/pic/core/%.o)

$(O)/pic/pwcore.o: $(tools)/python/pwcore.c $(core_hdr)
	@mkdir -p $(@D)
	$(CC) $(STD) $(OPT) -fPIC -c -o $@ $<
$(O)/libpwcore.so.0: $(O)/pic/pwcore.o $(py_core) $(tools)/python/libpwcore.map
	$(CC) -shared -Wl,-soname,libpwcore.so.0 -Wl,--version-script=$(tools)/python/libpwcore.map \
		-Wl,-z,defs -o $@ $(O)/pic/pwcore.o $(py_core)

.PHONY: python python-install
python: $(O)/libpwcore.so.0
python-install: python
	install -D -m 644 $(O)/libpwcore.so.0 $(DESTDIR)$(LIBDIR)/libpwcore.so.0
	install -D -m 644 $(TOP)/Documentation/netlink/specs/packetway.yaml $(DESTDIR)$(PREFIX)/share/packetway/packetway.yaml
	install -d $(DESTDIR)$(PYDIR)/packetway
	install -m 644 $(tools)/python/packetway/*.py $(tools)/python/packetway/py.typed $(DESTDIR)$(PYDIR)/packetway/
