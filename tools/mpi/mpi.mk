# SPDX-License-Identifier: GPL-2.0
# MPI on the ring, PVM on the stations; included by tools/Makefile. Built where Open MPI
# is installed.

MPICC ?= $(shell command -v mpicc 2>/dev/null)

$(O)/libpwmpi.so: $(tools)/mpi/pwmpi.c $(tools)/mpi/fortran.c $(tools)/mpi/request.c $(tools)/mpi/request.h $(tools)/mpi/sum32.h $(tools)/lib/exact.c $(tools)/lib/exact.h $(tools)/lib/packetway.h $(O)/libpacketway.a
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -fPIC -ftls-model=initial-exec -shared -I$(TOP)/uapi -I$(tools)/lib \
		-o $@ $(tools)/mpi/pwmpi.c $(tools)/mpi/fortran.c $(tools)/mpi/request.c $(tools)/lib/exact.c $(O)/libpacketway.a -ldl -pthread
$(O)/libpwtree.so: $(tools)/mpi/pwtree.c $(tools)/lib/packetway.h $(O)/libpacketway.a
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -fPIC -shared -I$(TOP)/uapi -I$(tools)/lib \
		-o $@ $(tools)/mpi/pwtree.c $(O)/libpacketway.a -ldl
$(O)/pwrun: $(tools)/mpi/pwrun
	install -m 755 $< $@
$(O)/mpi_check: $(tools)/testing/mpi/mpi_check.c $(tools)/lib/exact.c $(tools)/lib/exact.h $(tools)/mpi/sum32.h
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -I$(tools)/lib -I$(tools)/mpi -o $@ $< $(tools)/lib/exact.c

$(O)/mpi_wrong: $(tools)/testing/mpi/mpi_wrong.c
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -o $@ $<

$(O)/mpi_storm: $(tools)/testing/mpi/mpi_storm.c
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -o $@ $<

$(O)/mpi_hosts: $(tools)/testing/mpi/mpi_hosts.c
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -o $@ $<

$(O)/mpi_times: $(tools)/testing/mpi/mpi_times.c
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -o $@ $<

$(O)/mpi_threads: $(tools)/testing/mpi/mpi_threads.c
	OMPI_CC="$(CC)" $(MPICC) -std=gnu11 -g $(WARN) $(OPT) -D_GNU_SOURCE -o $@ $< -pthread

# an ordinary PVM program, where PVM is installed
PVM_H := $(wildcard $(SYSROOT)/usr/include/pvm3.h)
$(O)/pvm_check: $(tools)/testing/pvm/pvm_check.c
	$(CC) -std=gnu11 -g $(WARN) $(OPT) -o $@ $< -lpvm3

.PHONY: mpi mpi-install
ifneq ($(MPICC),)
mpi: $(O)/pwmodel-mpi $(O)/libpwmpi.so $(O)/libpwtree.so $(O)/pwrun $(O)/mpi_check $(O)/mpi_wrong $(O)/mpi_storm $(O)/mpi_threads $(O)/mpi_times $(O)/mpi_hosts \
	$(PVM_H:%=$(O)/pvm_check)
mpi-install: mpi
	install -D -m 644 $(O)/libpwmpi.so $(DESTDIR)$(LIBDIR)/libpwmpi.so
	install -D -m 644 $(O)/libpwtree.so $(DESTDIR)$(LIBDIR)/libpwtree.so
	install -D -m 755 $(O)/pwrun $(DESTDIR)$(PREFIX)/bin/pwrun
	install -D -m 755 $(O)/pwmodel-mpi $(DESTDIR)$(PREFIX)/bin/pwmodel-mpi
else
mpi mpi-install:
	@echo 'no mpicc: pwrun, libpwmpi and pwmodel-mpi are left out'
endif
