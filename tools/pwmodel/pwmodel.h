/* SPDX-License-Identifier: GPL-2.0 */
/* pwmodel: the pure cores on the command line. One file per subcommand. */
#ifndef PWMODEL_H
#define PWMODEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * A subcommand gets argv[0] = its own name, prints its result on standard
 * output and returns 0. On bad input it calls pwm_fail(), which prints one line
 * that names the field or argument and exits with 2; nothing may have been
 * printed on standard output before that.
 */
int pwm_replay(int argc, char **argv);
/* unit "aal" of replay: argv[0] is "aal" */
int pwm_replay_aal(int argc, char **argv);
int pwm_fabric(int argc, char **argv);
/* parameters of a fabric, a line each */
void pwm_fabric_table(void);
/* the topology of a fabric: check it, print it as a file */
int pwm_topology(int argc, char **argv);
/* many SANs joined by routers; not in the build without libyaml (PWM_WITHOUT_NET) */
int pwm_net(int argc, char **argv);
int pwm_aton(int argc, char **argv);
int pwm_eep(int argc, char **argv);
int pwm_rrp(int argc, char **argv);
int pwm_esp(int argc, char **argv);
int pwm_poets(int argc, char **argv);

/* the subcommand argv[0] of two forms, "decode HEX" and "encode -" */
int pwm_codec(int argc, char **argv, void (*decode)(const char *), void (*encode)(const char *));

void pwm_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* whole number in decimal or 0x; fails naming @what */
uint64_t pwm_u64(const char *s, const char *what);
int64_t pwm_s64(const char *s, const char *what);

/* whole of standard input ("-") or of a file, NUL-terminated; caller frees */
char *pwm_slurp(const char *path, size_t *len);

/* hex digits (white space allowed) to bytes; fails naming @what; caller frees */
uint8_t *pwm_unhex(const char *hex, size_t *len, const char *what);
/* bytes to a NUL-terminated lower-case hex string; caller frees */
char *pwm_hex(const uint8_t *p, size_t len);

#endif
