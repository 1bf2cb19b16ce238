# SPDX-License-Identifier: GPL-2.0
# link_packetway.so for the installed iproute2; included by tools/Makefile.
#   make -C tools iproute2           build it: $(O)/iproute2/link_packetway.so
#   IP_LIB_DIR=$(O)/iproute2 ip ...  use it from there
#   make -C tools iproute2-install   put it where `ip` looks

IPR      := $(O)/iproute2
IPR_MULTIARCH = $(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $(CC) -print-multiarch)
IPR_DIR  ?= /usr/lib/$(IPR_MULTIARCH)/ip
# a plug-in fits one release only: another one gets another source directory
IPR_VER  := $(shell dpkg-query -W -f '$${source:Version}' iproute2 2>/dev/null)
IPR_SRC  := $(IPR)/source-$(subst :,_,$(subst ~,_,$(IPR_VER)))

.PHONY: iproute2 iproute2-install
iproute2: $(IPR)/link_packetway.so

$(IPR_SRC)/ip/ip_common.h:
	$(TOP)/scripts/fetch-iproute2-source $(IPR_SRC)
	@touch $@

$(IPR)/link_packetway.so: $(tools)/iproute2/link_packetway.c $(TOP)/uapi/linux/packetway.h $(IPR_SRC)/ip/ip_common.h
	$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -I$(TOP)/uapi -I$(IPR_SRC)/ip -I$(IPR_SRC)/include \
		-I$(IPR_SRC)/include/uapi -o $@ $<

iproute2-install: $(IPR)/link_packetway.so
	install -d $(DESTDIR)$(IPR_DIR)
	install -m 644 $< $(DESTDIR)$(IPR_DIR)/
