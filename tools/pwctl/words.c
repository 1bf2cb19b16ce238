// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of commands and words: one parser, one form of complaint, and the help
 * text, which is made from the same tables.
 */
#include <ctype.h>
#include <stdarg.h>

#include "pwctl.h"

#define HELP_WIDTH 100

/* whose help a complaint names */
static const char *group_now = "";

/* Complaints --------------------------------------------------------------- */

enum status usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "pwctl: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ", see 'pwctl %s%shelp'\n", group_now, *group_now ? " " : "");
	va_end(ap);
	return ST_USAGE;
}

enum status fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "pwctl: ");
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (err)
		fprintf(stderr, ": %s", strerror(abs(err)));
	fputc('\n', stderr);
	return ST_REFUSED;
}

/* Suggestions ---------------------------------------------------------------- */

#define WORD_LEN 32
#define NAMES_MAX 64

/* insertions, deletions, exchanges and swaps of neighbours that make @b of @a */
static int distance(const char *a, const char *b)
{
	int d[WORD_LEN + 1][WORD_LEN + 1], n = strlen(a), m = strlen(b), i, k, best;

	if (n > WORD_LEN || m > WORD_LEN)
		return WORD_LEN;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (k = 0; k <= m; k++)
		d[0][k] = k;
	for (i = 1; i <= n; i++) {
		for (k = 1; k <= m; k++) {
			best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
			if (d[i - 1][k] + 1 < best)
				best = d[i - 1][k] + 1;
			if (d[i][k - 1] + 1 < best)
				best = d[i][k - 1] + 1;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    d[i - 2][k - 2] + 1 < best)
				best = d[i - 2][k - 2] + 1;
			d[i][k] = best;
		}
	}
	return d[n][m];
}

const char *did_you_mean(const char *word, const char *const *names, int n)
{
	static char text[160];
	int len = strlen(word), limit, best = WORD_LEN, hits = 0, shown = 0, i, d;

	/* one error in a short word, more in longer ones */
	limit = len < 2 ? 0 : len < 6 ? 1 : len < 9 ? 2 : 3;
	for (i = 0; i < n; i++) {
		d = distance(word, names[i]);
		hits = d < best ? 1 : hits + (d == best);
		best = d < best ? d : best;
	}
	if (best > limit || hits > 3)
		return "";
	len = snprintf(text, sizeof(text), " (did you mean");
	for (i = 0; i < n; i++)
		if (distance(word, names[i]) == best)
			len += snprintf(text + len, sizeof(text) - len, "%s '%s'",
					!shown++ ? "" : shown == hits ? " or" : ",", names[i]);
	snprintf(text + len, sizeof(text) - len, "?)");
	return text;
}

static const char *nearest_verb(const char *word, const struct verb *v)
{
	const char *names[NAMES_MAX];
	int n = 0;

	for (; v->name && n < NAMES_MAX; v++)
		names[n++] = v->name;
	return did_you_mean(word, names, n);
}

static const char *nearest_key(const char *word, const struct word *w)
{
	const char *names[NAMES_MAX];
	int n = 0;

	for (; w && w->kind && n < NAMES_MAX; w++)
		if (w->name)
			names[n++] = w->name;
	return did_you_mean(word, names, n);
}

/* Values ------------------------------------------------------------------- */

int parse_u64(const char *text, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '-')
		return -EINVAL;
	errno = 0;
	*v = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return *end || errno ? -EINVAL : 0;
}

int parse_u32(const char *text, uint32_t *v)
{
	uint64_t x;

	if (*text == '-' || parse_u64(text, &x) || x > UINT32_MAX)
		return -EINVAL;
	*v = x;
	return 0;
}

int parse_addr(const char *text, uint32_t *addr)
{
	if (!strcmp(text, "broadcast")) {
		*addr = PW_ADDR_BROADCAST;
		return 0;
	}
	return pwl_addr_parse(text, addr);
}

int parse_hex(const char *text, uint8_t *out, size_t cap)
{
	size_t n = 0;
	unsigned int b;

	while (*text) {
		if (*text == ':' || *text == ' ') {
			text++;
			continue;
		}
		if (n == cap || !isxdigit((unsigned char)text[0]) ||
		    !isxdigit((unsigned char)text[1]))
			return -EINVAL;
		sscanf(text, "%2x", &b);
		out[n++] = b;
		text += 2;
	}
	return n;
}

int choice(const char *names, uint32_t i, const char **name)
{
	for (; i && *names; i--) {
		names += strcspn(names, "|");
		names += *names == '|';
	}
	*name = names;
	return strcspn(names, "|");
}

static const char *nearest_choice(const char *word, const char *list)
{
	char copy[16][WORD_LEN];
	const char *names[16], *name;
	int n = 0, len;

	while (n < N(names) && (len = choice(list, n, &name)) && len < WORD_LEN) {
		snprintf(copy[n], sizeof(copy[n]), "%.*s", len, name);
		names[n] = copy[n];
		n++;
	}
	return did_you_mean(word, names, n);
}

static enum status word_choice(const struct word *w, const char *text, uint32_t *v)
{
	const char *name;
	uint32_t i;
	int n;

	for (i = 0; (n = choice(w->value, i, &name)); i++) {
		if (strlen(text) == n && !strncmp(name, text, n)) {
			*v = w->max + i;
			return ST_OK;
		}
	}
	return usage("%s: '%s' is not one of %s%s", w->name, text, w->value,
		     nearest_choice(text, w->value));
}

enum status word_store(void *to, const struct word *w, char **values)
{
	const char *name = w->name ? w->name : w->value;
	void *p = (char *)to + w->at;
	uint64_t v = 0;
	uint32_t u = 0;

	switch (w->kind) {
	case W_FLAG:
		*(bool *)p = true;
		return ST_OK;
	case W_TEXT:
		*(const char **)p = values[0];
		return ST_OK;
	case W_REST:
		*(char ***)p = values;
		return ST_OK;
	case W_CALL:
		return w->call(to, values);
	case W_CHOICE:
		return word_choice(w, values[0], p);
	case W_ADDR:
		if (parse_addr(values[0], p))
			return usage("%s: '%s' is not an address", name, values[0]);
		return ST_OK;
	case W_U64:
		if (parse_u64(values[0], &v))
			break;
		*(uint64_t *)p = v;
		return ST_OK;
	default:
		if (w->kind == W_SWITCH && !strcmp(values[0], "on"))
			u = 1;
		else if (w->kind == W_SWITCH && !strcmp(values[0], "off"))
			u = 0;
		else if (w->number ? w->number(values[0], &u) : parse_u32(values[0], &u))
			break;
		if (w->max && u > w->max)
			return usage("%s: '%s' is more than %u", name, values[0], w->max);
		if (w->kind == W_LONG)
			*(long *)p = u;
		else
			*(uint32_t *)p = u;
		return ST_OK;
	}
	return usage("%s: '%s' is not a number%s%s", name, values[0],
		     w->number ? " or one of " : "", w->number ? w->value : "");
}

/* Words -------------------------------------------------------------------- */

/* "GROUP VERB" for messages */
static const char *full_name(const struct verb *v)
{
	static char name[64];

	if (!*group_now || !strcmp(group_now, v->name))
		return v->name;
	snprintf(name, sizeof(name), "%s %s", group_now, v->name);
	return name;
}

/* the word that @text is or, where none is, the first value that may stand here alone */
static const struct word *find_word(const struct word *table, const char *text, uint64_t given,
				    bool *alone)
{
	const struct word *w;

	*alone = false;
	for (w = table; w && w->kind; w++)
		if (w->name && !strcmp(w->name, text))
			return w;
	*alone = true;
	for (w = table; w && w->kind; w++)
		if ((!w->name || w->flags & WORD_KEY) &&
		    (w->flags & WORD_MANY || !(given & 1ULL << (w - table))))
			return w;
	return NULL;
}

enum status words_each(const struct verb *v, int argc, char **argv,
		       enum status (*take)(void *to, const struct word *w, char **values), void *to)
{
	const struct word *w;
	uint64_t given = 0;
	enum status st;
	int i = 0, n;
	bool alone;

	while (i < argc) {
		w = find_word(v->words, argv[i], given, &alone);
		if (!w)
			return usage("%s: unknown key '%s'%s", full_name(v), argv[i],
				     nearest_key(argv[i], v->words));
		n = w->kind == W_FLAG ? 0 : w->kind == W_CALL ? w->max : 1;
		i += !alone;
		if (i + n > argc)
			return usage("%s: '%s' needs %s", full_name(v), w->name,
				     w->value ? w->value : "a value");
		st = take(to, w, argv + i);
		if (st)
			return st;
		given |= 1ULL << (w - v->words);
		i = w->kind == W_REST ? argc : i + n;
	}
	for (w = v->words; w && w->kind; w++)
		if (w->flags & WORD_NEEDED && !(given & 1ULL << (w - v->words)))
			return usage("%s: %s%s%s is missing", full_name(v), w->name ?: "",
				     w->name ? " " : "", w->value);
	return ST_OK;
}

enum status words(const struct verb *v, int argc, char **argv, void *to)
{
	return words_each(v, argc, argv, word_store, to);
}

/* Help --------------------------------------------------------------------- */

static void help_words(const struct word *w, int column)
{
	char text[160];
	int n;

	for (; w && w->kind; w++) {
		bool needed = w->flags & WORD_NEEDED, key = w->flags & WORD_KEY;

		n = snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s", needed ? "" : "[",
			     key ? "[" : "", w->name ?: "", key ? "]" : "",
			     w->name && w->value ? " " : "", w->value ?: "",
			     w->flags & WORD_MANY || w->kind == W_REST ? "..." : "",
			     needed ? "" : "]");
		if (column + 1 + n > HELP_WIDTH)
			column = printf("\n             ") - 1;
		column += printf(" %s", text);
	}
}

static void help_verb(const char *group, const struct verb *v, bool more)
{
	const struct verb *s;
	const char *line;
	int column, n;

	column = printf("  pwctl %s%s%s", group, *group ? " " : "", v->name);
	for (s = v->sub; s && s->name; s++)
		printf("%c%s", s == v->sub ? ' ' : '|', s->name);
	help_words(v->words, column);
	printf("\n        %s\n", v->what);
	if (!more)
		return;
	if (v->more)
		printf("        %s\n", v->more);
	for (line = examples(group, v->name); *line; line += line[n] ? n + 1 : n) {
		n = strcspn(line, "\n");
		printf("        example: %.*s\n", n, line);
	}
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* a word may be cut short as long as only one command begins with it */
static const struct verb *find_verb(const struct verb *table, const char *word, int *hits)
{
	const struct verb *v, *found = NULL;

	*hits = 0;
	for (v = table; v->name; v++) {
		if (!strcmp(v->name, word)) {
			*hits = 1;
			return v;
		}
		if (!strncmp(v->name, word, strlen(word))) {
			found = v;
			++*hits;
		}
	}
	return *hits == 1 ? found : NULL;
}

enum status help(const char *group, const struct verb *table, int argc, char **argv)
{
	const struct verb *v;
	int hits;

	if (argc) {
		group_now = group;
		v = find_verb(table, argv[0], &hits);
		if (!v)
			return usage("unknown command '%s'%s", argv[0], nearest_verb(argv[0], table));
		if (v->sub)
			return help(v->name, v->sub, 0, NULL);
		help_verb(group, v, true);
		return ST_OK;
	}
	for (v = table; v->name; v++)
		help_verb(group, v, *group);
	return ST_OK;
}

enum status dispatch(const char *group, const struct verb *table, int argc, char **argv)
{
	/* a group without a command shows what there is */
	const char *word = argc ? argv[0] : "show";
	const struct verb *v;
	int hits;

	group_now = group;
	if (*group && is_help(word))
		return help(group, table, 0, NULL);
	v = find_verb(table, word, &hits);
	if (v && v->sub)
		return dispatch(v->name, v->sub, argc - 1, argv + 1);
	if (v) {
		if (!*group)
			group_now = v->name;
		if (argc == 2 && is_help(argv[1]) && v->words) {
			help_verb(group, v, true);
			return ST_OK;
		}
		return v->run(v, argc ? argc - 1 : 0, argc ? argv + 1 : argv);
	}
	if (!hits)
		return !argc ? usage("%s: a command is missing", group) :
		       *group ? usage("%s: unknown command '%s'%s", group, word,
				      nearest_verb(word, table)) :
				usage("unknown command '%s'%s", word, nearest_verb(word, table));
	fprintf(stderr, "pwctl: %s%s'%s' may be", group, *group ? ": " : "", word);
	for (v = table; v->name; v++)
		if (!strncmp(v->name, word, strlen(word)))
			fprintf(stderr, " %s", v->name);
	fputc('\n', stderr);
	return ST_USAGE;
}
