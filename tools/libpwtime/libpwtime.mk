# SPDX-License-Identifier: GPL-2.0
# libpwtime.so, which pwctl virtual preloads; included by tools/Makefile.

libpwtime_dir := $(tools)/libpwtime

.PHONY: libpwtime libpwtime-install
libpwtime: $(O)/libpwtime.so

$(O)/libpwtime.so: $(libpwtime_dir)/pwtime.c $(libpwtime_dir)/timers.c $(wildcard $(libpwtime_dir)/*.h) $(TOP)/uapi/linux/packetway.h
	@mkdir -p $(O)
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I$(TOP)/uapi -o $@ $(filter %.c,$^) -ldl -pthread

libpwtime-install: libpwtime
	install -D -m 644 $(O)/libpwtime.so $(DESTDIR)$(LIBDIR)/libpwtime.so
	install -D -m 644 $(libpwtime_dir)/pwtime.h $(DESTDIR)$(PREFIX)/include/pwtime.h
