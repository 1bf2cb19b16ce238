# SPDX-License-Identifier: GPL-2.0
# link_packetway.so and link_pwmon.so for the installed iproute2; included by tools/Makefile.
#   make -C tools iproute2           build them: $(O)/iproute2/link_*.so
#   IP_LIB_DIR=$(O)/iproute2 ip ...  use them from there
#   make -C tools iproute2-install   put them where `ip` looks
# Archives do not always have the source of the installed release. Then "all" and "install" go
# on without the plug-ins, after a sentence; stations are made by pwctl.

IPR      := $(O)/iproute2
# the compiler's, which is not the build machine's in a cross build
IPR_MULTIARCH = $(shell $(CC) -print-multiarch 2>/dev/null || dpkg-architecture -qDEB_HOST_MULTIARCH)
IPR_DIR  ?= /usr/lib/$(IPR_MULTIARCH)/ip
# a plug-in fits one release only: another one gets another source directory
IPR_VER  := $(shell dpkg-query -W -f '$${source:Version}' iproute2 2>/dev/null)
IPR_SRC  := $(IPR)/source-$(subst :,_,$(subst ~,_,$(IPR_VER)))

.PHONY: iproute2 iproute2-install iproute2-if-source iproute2-install-if-source
IPR_SO := $(IPR)/link_packetway.so $(IPR)/link_pwmon.so
iproute2: $(IPR_SO)

iproute2-if-source iproute2-install-if-source: iproute2%-if-source:
	@if [ -e $(IPR_SRC)/ip/ip_common.h ] || $(TOP)/scripts/pkg/fetch-iproute2-source $(IPR_SRC); then \
		$(MAKE) -C $(tools) O=$(O) iproute2$*; \
	else \
		echo "tools: no plug-ins for ip without the source of iproute2 $(IPR_VER); pwctl does the same" >&2; \
	fi

$(IPR_SRC)/ip/ip_common.h:
	$(TOP)/scripts/pkg/fetch-iproute2-source $(IPR_SRC)
	@touch $@

$(IPR)/link_%.so: $(tools)/iproute2/link_%.c $(TOP)/uapi/linux/packetway.h $(IPR_SRC)/ip/ip_common.h
	$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -I$(TOP)/uapi -I$(IPR_SRC)/ip -I$(IPR_SRC)/include \
		-I$(IPR_SRC)/include/uapi -o $@ $<

iproute2-install: $(IPR_SO)
	install -d $(DESTDIR)$(IPR_DIR)
	install -m 644 $(IPR_SO) $(DESTDIR)$(IPR_DIR)/
