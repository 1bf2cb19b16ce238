# SPDX-License-Identifier: GPL-2.0
# libpacketway; included by tools/Makefile.
#   $(O)/libpacketway.so.0   with soname and symbol map, $(O)/libpacketway.so beside it
#   $(O)/libpacketway.a      the same for programs that want no shared library

LIB_VERSION := 0.1
LIB_MAJOR   := 0
LIB_DEFS    := -D_GNU_SOURCE -DPWL_VERSION='"$(LIB_VERSION)"' -I$(tools)/lib
lib_src     := $(sort $(wildcard $(tools)/lib/*.c))
lib_obj     := $(lib_src:$(tools)/lib/%.c=$(O)/pic/lib/%.o)
# what the library takes from the pure cores
lib_core    := eep eep_build eep_tools rrp esp_exec esp_store esp_tools poets poets_tools
lib_core_o  := $(lib_core:%=$(O)/pic/core/%.o)

$(O)/pic/core/%.o: $(CORE)/%.c $(core_hdr)
	@mkdir -p $(@D)
	$(CC) $(STD) $(OPT) -fPIC -c -o $@ $<
$(O)/pic/lib/%.o: $(tools)/lib/%.c $(tools)/lib/packetway.h $(tools)/lib/exact.h $(core_hdr)
	@mkdir -p $(@D)
	$(CC) $(STD) $(OPT) $(LIB_DEFS) -fPIC -c -o $@ $<
$(O)/libpacketway.so.$(LIB_MAJOR): $(lib_obj) $(lib_core_o) $(tools)/lib/libpacketway.map
	$(CC) -shared -Wl,-soname,libpacketway.so.$(LIB_MAJOR) -Wl,--version-script=$(tools)/lib/libpacketway.map \
		-Wl,-z,defs -o $@ $(lib_obj) $(lib_core_o)
$(O)/libpacketway.so: $(O)/libpacketway.so.$(LIB_MAJOR)
	ln -sf libpacketway.so.$(LIB_MAJOR) $@
# one object, so that nothing but pwl_* is seen outside
$(O)/pic/libpacketway.o: $(lib_obj) $(lib_core_o)
	$(LD) -r -o $@ $^
	$(OBJCOPY) --wildcard --keep-global-symbol='pwl_*' $@
$(O)/libpacketway.a: $(O)/pic/libpacketway.o
	@rm -f $@
	$(AR) rcs $@ $<

# collectives of many processes that end in all ways, for tests
$(O)/coll_storm: $(tools)/testing/lib/coll_storm.c $(tools)/lib/packetway.h $(O)/libpacketway.a
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -I$(TOP)/uapi -I$(tools)/lib -o $@ $< $(O)/libpacketway.a

LIBDIR ?= $(PREFIX)/lib
.PHONY: lib lib-install core-install
lib: $(O)/libpacketway.so $(O)/libpacketway.a $(O)/coll_storm
lib-install: lib
	install -D -m 644 $(O)/libpacketway.so.$(LIB_MAJOR) $(DESTDIR)$(LIBDIR)/libpacketway.so.$(LIB_MAJOR)
	ln -sf libpacketway.so.$(LIB_MAJOR) $(DESTDIR)$(LIBDIR)/libpacketway.so
	install -m 644 $(O)/libpacketway.a $(DESTDIR)$(LIBDIR)/
	install -D -m 644 $(tools)/lib/packetway.h $(DESTDIR)$(PREFIX)/include/packetway.h
	install -m 644 $(tools)/lib/packetway_poets.h $(DESTDIR)$(PREFIX)/include/packetway_poets.h
	install -d $(DESTDIR)$(PREFIX)/include/linux $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(TOP)/uapi/linux/packetway*.h $(DESTDIR)$(PREFIX)/include/linux/
	sed 's,@PREFIX@,$(PREFIX),;s,@LIBDIR@,$(LIBDIR),;s,@VERSION@,$(LIB_VERSION),' $(tools)/lib/packetway.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/packetway.pc

# The models for programs of researchers: an archive only, because the interface of core/
# follows the module and makes no promise to a program that was built with another version.
core-install: $(O)/opt/libpwcore.a
	install -D -m 644 $< $(DESTDIR)$(LIBDIR)/libpwcore.a
	cd $(CORE) && for h in *.h */*.h; do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/pwcore/$$h || exit; done
	install -m 644 $(tools)/testing/shim/pw_os_user.h $(DESTDIR)$(PREFIX)/include/pwcore/
	install -d $(DESTDIR)$(PREFIX)/include/linux $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(TOP)/uapi/linux/packetway*.h $(DESTDIR)$(PREFIX)/include/linux/
	sed 's,@PREFIX@,$(PREFIX),;s,@LIBDIR@,$(LIBDIR),;s,@VERSION@,$(LIB_VERSION),' $(tools)/lib/pwcore.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/pwcore.pc
