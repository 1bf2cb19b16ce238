# SPDX-License-Identifier: GPL-2.0
# libpwatm and the programs on it, into $(O); included by tools/Makefile.

ATM       := $(tools)/libpwatm
ATM_PROGS := pwecho pwsolve pwmatmul

.PHONY: libpwatm libpwatm-install
libpwatm: $(O)/libpwatm.a $(ATM_PROGS:%=$(O)/%)

$(O)/libpwatm.a: $(ATM)/pwatm.c $(ATM)/pwatm.h $(ATM)/link.h
	@mkdir -p $(O)/opt
	$(CC) $(STD) $(OPT) -fPIC -c -o $(O)/opt/pwatm.o $<
	@rm -f $@
	$(AR) rcs $@ $(O)/opt/pwatm.o

$(O)/pwsolve: $(ATM)/solve.c $(ATM)/solve.h
$(ATM_PROGS:%=$(O)/%): $(O)/%: $(ATM)/%.c $(ATM)/prog.h $(ATM)/pwatm.h $(O)/libpwatm.a
	$(CC) $(STD) $(OPT) -D_GNU_SOURCE -I$(ATM) -o $@ $(filter %.c,$^) $(O)/libpwatm.a -lm

libpwatm-install: libpwatm
	install -D -m 644 $(O)/libpwatm.a $(DESTDIR)$(PREFIX)/lib/libpwatm.a
	install -D -m 644 $(ATM)/pwatm.h $(DESTDIR)$(PREFIX)/include/pwatm.h
	install -D -m 644 $(ATM)/pwatm_published.h $(DESTDIR)$(PREFIX)/include/pwatm_published.h
	for p in $(ATM_PROGS); do install -D -m 755 $(O)/$$p $(DESTDIR)$(PREFIX)/bin/$$p || exit 1; done
