// SPDX-License-Identifier: GPL-2.0
/* The file of a POETS application: types, devices, edges, placement. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>

#include "poets_app.h"

struct app poets;

#define DEVICES_MAX (1U << 24)

/* "FILE: WHERE: what is wrong" */
static enum status __attribute__((format(printf, 3, 4)))
wrong(const struct app *a, const char *where, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fail(0, "%s: %s: %s", a->file, where, text);
}

static void *get_mem(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p) {
		fail(ENOMEM, "poets");
		exit(ST_REFUSED);
	}
	return p;
}

/* room for one more in an array whose size doubles */
static void *grow(void *p, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * (size_t)n : 1) * size);
	if (!p) {
		fail(ENOMEM, "poets");
		exit(ST_REFUSED);
	}
	return p;
}

/* members of @obj are among @known, a list that ends with NULL */
static enum status only(const struct app *a, const char *where, json_t *obj,
			const char *const *known)
{
	const char *key;
	json_t *v;
	int i;

	if (!json_is_object(obj))
		return wrong(a, where, "must be an object");
	json_object_foreach(obj, key, v) {
		for (i = 0; known[i] && strcmp(known[i], key); i++)
			;
		if (!known[i])
			return wrong(a, where, "there is no member \"%s\"", key);
	}
	return ST_OK;
}

static enum status get_uint(const struct app *a, json_t *obj, const char *key, uint32_t max,
			    uint32_t *v)
{
	json_t *j = json_object_get(obj, key);

	if (!j)
		return ST_OK;
	if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) > max)
		return wrong(a, key, "must be a number of 0..%u", max);
	*v = json_integer_value(j);
	return ST_OK;
}

static enum status get_properties(const struct app *a, const char *where, json_t *obj, json_t **p)
{
	const char *key;
	json_t *v;

	*p = json_object_get(obj, "properties");
	if (!*p)
		return ST_OK;
	if (!json_is_object(*p))
		return wrong(a, where, "properties must be an object");
	json_object_foreach(*p, key, v)
		if (!json_is_number(v) && !json_is_boolean(v))
			return wrong(a, where, "property \"%s\" must be a number or a boolean", key);
	return ST_OK;
}

/* Types -------------------------------------------------------------------- */

static enum status get_pins(const struct app *a, const char *where, json_t *obj, const char *key,
			    const char ***names, int *n)
{
	json_t *list = json_object_get(obj, key), *v;
	size_t i;

	*n = 0;
	*names = NULL;
	if (!list)
		return ST_OK;
	if (!json_is_array(list) || json_array_size(list) > 256)
		return wrong(a, where, "\"%s\" must be a list of at most 256 names of pins", key);
	*names = get_mem(json_array_size(list), sizeof(**names));
	json_array_foreach(list, i, v) {
		if (!json_is_string(v))
			return wrong(a, where, "\"%s\" must be a list of names of pins", key);
		(*names)[(*n)++] = json_string_value(v);
	}
	return ST_OK;
}

static enum status get_types(struct app *a)
{
	static const char *const known[] = { "in", "out", "properties", NULL };
	json_t *types = json_object_get(a->root, "types"), *v;
	const struct poets_type *const *t;
	const char *name;
	char where[80];
	int err;

	if (!json_is_object(types) || !json_object_size(types))
		return wrong(a, "types", "must be an object with a member for each type");
	a->type = get_mem(json_object_size(types), sizeof(*a->type));
	json_object_foreach(types, name, v) {
		struct app_type *at = &a->type[a->ntypes++];

		snprintf(where, sizeof(where), "types.%s", name);
		at->name = name;
		err = only(a, where, v, known);
		if (!err)
			err = get_pins(a, where, v, "in", &at->in, &at->nin);
		if (!err)
			err = get_pins(a, where, v, "out", &at->out, &at->nout);
		if (!err)
			err = get_properties(a, where, v, &at->properties);
		if (err)
			return err;
		for (t = a->code->types; *t && strcmp((*t)->name, name); t++)
			;
		if (!*t)
			return wrong(a, where, "%s has no handlers for this type", a->handlers);
		at->t = *t;
	}
	return ST_OK;
}

static enum status get_handlers(struct app *a)
{
	json_t *h = json_object_get(a->root, "handlers");
	char dir[PATH_MAX], path[PATH_MAX + 256];
	void *so;

	if (!json_is_string(h))
		return wrong(a, "handlers", "must be the name of a shared object");
	snprintf(dir, sizeof(dir), "%s", a->file);
	snprintf(path, sizeof(path), "%s/%s", *json_string_value(h) == '/' ? "" : dirname(dir),
		 json_string_value(h));
	a->handlers = strdup(path);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return wrong(a, "handlers", "%s", dlerror());
	a->code = dlsym(so, "poets_app");
	if (!a->code)
		return wrong(a, "handlers", "%s does not define poets_app", path);
	if (a->code->version != POETS_APP_VERSION)
		return wrong(a, "handlers", "%s is of version %u, not %u", path, a->code->version,
			     POETS_APP_VERSION);
	return ST_OK;
}

/* Devices ------------------------------------------------------------------ */

static void name_device(struct app_device *d, uint32_t k)
{
	const struct app_array *ar = d->array;
	char buf[160];
	int i, n;

	for (i = ar->dims - 1; i >= 0; i--) {
		d->d.index[i] = k % ar->shape[i];
		k /= ar->shape[i];
	}
	n = snprintf(buf, sizeof(buf), "%s", ar->name);
	for (i = 0; i < ar->dims; i++)
		n += snprintf(buf + n, sizeof(buf) - n, "%c%u", i ? ',' : '[', d->d.index[i]);
	if (ar->dims)
		snprintf(buf + n, sizeof(buf) - n, "]");
	d->d.name = strdup(buf);
}

static enum status get_array(struct app *a, json_t *v, int nth)
{
	static const char *const known[] = { "name", "type", "shape", "properties", NULL };
	struct app_array *ar = &a->array[nth];
	json_t *shape = json_object_get(v, "shape"), *s;
	const char *type;
	char where[40];
	uint64_t n = 1;
	size_t i;
	int err;

	snprintf(where, sizeof(where), "devices[%d]", nth);
	err = only(a, where, v, known);
	if (!err)
		err = get_properties(a, where, v, &ar->properties);
	if (err)
		return err;
	ar->name = json_string_value(json_object_get(v, "name"));
	type = json_string_value(json_object_get(v, "type"));
	if (!ar->name || !*ar->name || strlen(ar->name) > 64 || strpbrk(ar->name, "[].,"))
		return wrong(a, where, "needs a \"name\" of at most 64 bytes without []., in it");
	for (i = 0; (int)i < nth; i++)
		if (!strcmp(a->array[i].name, ar->name))
			return wrong(a, where, "there is another \"%s\"", ar->name);
	for (i = 0; (int)i < a->ntypes; i++)
		if (type && !strcmp(a->type[i].name, type))
			ar->type = &a->type[i];
	if (!ar->type)
		return wrong(a, where, "needs a \"type\" that is in \"types\"");
	if (shape && (!json_is_array(shape) || !json_array_size(shape) ||
		      json_array_size(shape) > POETS_DIMS))
		return wrong(a, where, "\"shape\" is a list of 1 to %d numbers", POETS_DIMS);
	json_array_foreach(shape, i, s) {
		if (!json_is_integer(s) || json_integer_value(s) < 1 ||
		    json_integer_value(s) > DEVICES_MAX)
			return wrong(a, where, "\"shape\" is a list of 1 to %d numbers", POETS_DIMS);
		ar->shape[ar->dims++] = json_integer_value(s);
		n *= json_integer_value(s);
		if (n > DEVICES_MAX)
			break;
	}
	if (n + a->ndevices > DEVICES_MAX)
		return wrong(a, where, "more than %u devices", DEVICES_MAX);
	ar->first = a->ndevices;
	ar->n = n;
	a->ndevices += n;
	return ST_OK;
}

static enum status get_devices(struct app *a)
{
	json_t *list = json_object_get(a->root, "devices"), *v;
	uint32_t k, d = 0;
	size_t i;
	int err;

	if (!json_is_array(list) || !json_array_size(list))
		return wrong(a, "devices", "must be a list");
	a->array = get_mem(json_array_size(list), sizeof(*a->array));
	json_array_foreach(list, i, v) {
		err = get_array(a, v, i);
		if (err)
			return err;
		a->narrays++;
	}
	a->device = get_mem(a->ndevices, sizeof(*a->device));
	for (i = 0; (int)i < a->narrays; i++)
		for (k = 0; k < a->array[i].n; k++, d++) {
			struct app_device *dev = &a->device[d];

			dev->array = &a->array[i];
			dev->d.id = d;
			dev->station = -1;
			dev->in = get_mem(dev->array->type->nin, sizeof(*dev->in));
			dev->out = get_mem(dev->array->type->nout, sizeof(*dev->out));
			name_device(dev, k);
		}
	return ST_OK;
}

/* References: NAME, NAME[3], NAME[x,y-1], each with .PIN behind it ------------- */

struct ref {
	const struct app_array *ar;
	int var[POETS_DIMS];		/* which of x, y, z; -1: none */
	long add[POETS_DIMS];
	int pin;
};

static int get_index(const char **p, int *var, long *add)
{
	char *end;

	*var = -1;
	*add = 0;
	if (**p >= 'x' && **p <= 'z')
		*var = *(*p)++ - 'x';
	if (*var >= 0 && (**p == ',' || **p == ']'))
		return 0;
	if (*var >= 0 && **p != '+' && **p != '-')
		return -1;
	*add = strtol(*p, &end, 10);
	if (end == *p)
		return -1;
	*p = end;
	return 0;
}

static enum status get_ref(const struct app *a, const char *where, const char *text, bool with_pin,
			   bool out, struct ref *r)
{
	size_t len = strcspn(text, "[.");
	const char *p = text + len;
	int i, n = 0;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < a->narrays; i++)
		if (strlen(a->array[i].name) == len && !memcmp(a->array[i].name, text, len))
			r->ar = &a->array[i];
	if (!r->ar)
		return wrong(a, where, "\"%s\": there is no such device", text);
	if (*p == '[')
		do {
			p++;
			if (n == POETS_DIMS || get_index(&p, &r->var[n], &r->add[n]))
				return wrong(a, where, "\"%s\": the index is not understood", text);
			n++;
		} while (*p == ',');
	if (n != r->ar->dims || (n && *p++ != ']'))
		return wrong(a, where, "\"%s\": \"%s\" has %d indices", text, r->ar->name,
			     r->ar->dims);
	if (!with_pin)
		return *p ? wrong(a, where, "\"%s\": \"%s\" is not understood", text, p) : ST_OK;
	n = out ? r->ar->type->nout : r->ar->type->nin;
	for (i = 0; i < n && *p == '.'; i++)
		if (!strcmp((out ? r->ar->type->out : r->ar->type->in)[i], p + 1))
			break;
	if (*p != '.' || i == n)
		return wrong(a, where, "\"%s\": type \"%s\" has no %s pin \"%s\"", text,
			     r->ar->type->name, out ? "output" : "input", *p == '.' ? p + 1 : p);
	r->pin = i;
	return ST_OK;
}

/* the device that @r names for these x, y, z; -1: outside */
static int64_t ref_device(const struct ref *r, const uint32_t *xyz, bool wrap)
{
	int64_t k = 0;
	int i;

	for (i = 0; i < r->ar->dims; i++) {
		int64_t n = r->ar->shape[i], at = r->add[i];

		if (r->var[i] >= 0)
			at += xyz[r->var[i]];
		if (wrap)
			at = (at % n + n) % n;
		if (at < 0 || at >= n)
			return -1;
		k = k * n + at;
	}
	return r->ar->first + k;
}

/* Edges -------------------------------------------------------------------- */

static void join(struct app *a, uint32_t from, int out, uint32_t to, int in, int64_t weight)
{
	struct poets_out_pin *o = &a->device[from].out[out];
	struct poets_in_pin *p = &a->device[to].in[in];

	o->e = grow(o->e, o->n, sizeof(*o->e));
	o->e[o->n++] = (struct poets_out_edge) {
		.to = to, .edge = p->n, .pin = in, .weight = weight,
	};
	p->weight = grow(p->weight, p->n, sizeof(*p->weight));
	p->weight[p->n++] = weight;
	a->nedges++;
}

/* join each device that "from" stands for to the one that "to" names for it */
static enum status get_edge(struct app *a, const char *where, json_t *v)
{
	static const char *const known[] = { "from", "to", "wrap", "weight", NULL };
	bool list = json_is_array(v), wrap, bound[POETS_DIMS] = {};
	json_t *w = list ? json_array_get(v, 2) : json_object_get(v, "weight");
	const char *from, *to;
	struct ref f, t;
	int64_t target;
	uint64_t made = 0;
	uint32_t k;
	int i, err;

	if (!list) {
		err = only(a, where, v, known);
		if (err)
			return err;
	}
	from = json_string_value(list ? json_array_get(v, 0) : json_object_get(v, "from"));
	to = json_string_value(list ? json_array_get(v, 1) : json_object_get(v, "to"));
	wrap = !list && json_is_true(json_object_get(v, "wrap"));
	if (!from || !to || (w && !json_is_integer(w)) || (list && json_array_size(v) > 3))
		return wrong(a, where, "needs \"from\", \"to\", and \"weight\" is a whole number");
	err = get_ref(a, where, from, true, true, &f);
	if (!err)
		err = get_ref(a, where, to, true, false, &t);
	if (err)
		return err;
	for (i = 0; i < f.ar->dims; i++) {
		if (f.var[i] >= 0 && f.add[i])
			return wrong(a, where, "\"%s\": here an index is x, y, z or a number", from);
		if (f.var[i] >= 0)
			bound[f.var[i]] = true;
	}
	for (i = 0; i < t.ar->dims; i++)
		if (t.var[i] >= 0 && !bound[t.var[i]])
			return wrong(a, where, "\"%s\": %c is not in \"%s\"", to, 'x' + t.var[i],
				     from);

	for (k = 0; k < f.ar->n; k++) {
		const struct app_device *d = &a->device[f.ar->first + k];
		uint32_t xyz[POETS_DIMS] = {};

		for (i = 0; i < f.ar->dims; i++) {
			if (f.var[i] >= 0)
				xyz[f.var[i]] = d->d.index[i];
			else if (d->d.index[i] != f.add[i])
				break;
		}
		/* one variable at two places: where both are the same */
		if (i < f.ar->dims || ref_device(&f, xyz, false) != (int64_t)d->d.id)
			continue;
		target = ref_device(&t, xyz, wrap);
		if (target < 0)
			continue;
		if (a->device[target].in[t.pin].n >= 1U << 24)
			return wrong(a, where, "more than 2^24 edges at one pin");
		join(a, d->d.id, f.pin, target, t.pin, json_integer_value(w));
		made++;
	}
	return made ? ST_OK : wrong(a, where, "no two devices are joined by this");
}

static enum status get_edges(struct app *a)
{
	json_t *list = json_object_get(a->root, "edges"), *v;
	char where[40];
	size_t i;
	int err;

	if (list && !json_is_array(list))
		return wrong(a, "edges", "must be a list");
	json_array_foreach(list, i, v) {
		snprintf(where, sizeof(where), "edges[%zu]", i);
		err = get_edge(a, where, v);
		if (err)
			return err;
	}
	return ST_OK;
}

/* Placement ---------------------------------------------------------------- */

static enum status add_station(struct app *a, const char *name)
{
	struct app_station *s = &a->station[a->nstations];
	const char *slash = strrchr(name, '/');
	int i;

	for (i = 0; i < a->nstations; i++)
		if (!strcmp(a->station[i].name, name))
			return wrong(a, "stations", "\"%s\" is there twice", name);
	s->name = strdup(name);
	snprintf(s->dev, sizeof(s->dev), "%s", slash ? slash + 1 : name);
	if (slash)
		snprintf(s->netns, sizeof(s->netns), "%.*s", (int)(slash - name), name);
	a->nstations++;
	return ST_OK;
}

static enum status get_stations(struct app *a)
{
	json_t *list = json_object_get(a->root, "stations"), *v;
	struct station *here;
	size_t i;
	int n, err = ST_OK;

	if (list) {
		if (!json_is_array(list) || !json_array_size(list))
			return wrong(a, "stations", "must be a list of names");
		a->station = get_mem(json_array_size(list), sizeof(*a->station));
		json_array_foreach(list, i, v) {
			if (!json_is_string(v))
				return wrong(a, "stations", "must be a list of names");
			err = add_station(a, json_string_value(v));
			if (err)
				return err;
		}
		return err;
	}
	n = stations(&here);
	if (n < 0)
		return fail(n, "stations");
	a->station = get_mem(n, sizeof(*a->station));
	for (i = 0; (int)i < n && !err; i++)
		if (here[i].up)
			err = add_station(a, here[i].name);
	free(here);
	if (!err && !a->nstations)
		return wrong(a, "stations", "no station of this namespace is up");
	return err;
}

static int station_by_name(const struct app *a, const char *name)
{
	int i;

	for (i = 0; name && i < a->nstations; i++)
		if (!strcmp(a->station[i].name, name))
			return i;
	return -1;
}

/* "NAME": all of an array; "NAME[3]": one; the rest cyclically */
static enum status place_named(struct app *a, json_t *map)
{
	const uint32_t none[POETS_DIMS] = {};
	const char *name;
	struct ref r;
	uint32_t k;
	json_t *v;
	int s, i, err;

	json_object_foreach(map, name, v) {
		s = station_by_name(a, json_string_value(v));
		if (s < 0)
			return wrong(a, "placement", "\"%s\": there is no such station", name);
		for (i = 0; i < a->narrays && strcmp(a->array[i].name, name); i++)
			;
		if (i < a->narrays) {
			for (k = 0; k < a->array[i].n; k++)
				if (a->device[a->array[i].first + k].station < 0)
					a->device[a->array[i].first + k].station = s;
			continue;
		}
		err = get_ref(a, "placement", name, false, false, &r);
		if (err)
			return err;
		if (r.var[0] >= 0 || r.var[1] > 0 || r.var[2] > 0 ||
		    ref_device(&r, none, false) < 0)
			return wrong(a, "placement", "\"%s\": there is no such device", name);
		a->device[ref_device(&r, none, false)].station = s;
	}
	return ST_OK;
}

static enum status app_place(struct app *a)
{
	json_t *how = json_object_get(a->root, "placement");
	json_t *ms = json_object_get(a->root, "mothership");
	uint32_t d, per = (a->ndevices + a->nstations - 1) / a->nstations;
	bool block = how && !strcmp(json_string_value(how) ? json_string_value(how) : "", "block");
	int err;

	if (json_is_object(how)) {
		err = place_named(a, how);
		if (err)
			return err;
	} else if (how && !block && (!json_is_string(how) ||
				     strcmp(json_string_value(how), "cyclic"))) {
		return wrong(a, "placement", "is \"cyclic\", \"block\", or says where devices are");
	}
	a->mothership = ms ? station_by_name(a, json_string_value(ms)) : 0;
	if (a->mothership < 0)
		return wrong(a, "mothership", "must be one of the stations");
	for (d = 0; d < a->ndevices; d++) {
		struct app_device *dev = &a->device[d];
		struct app_station *s;

		if (dev->station < 0)
			dev->station = block ? d / per : d % a->nstations;
		s = &a->station[dev->station];
		if (s->n == PACKETWAY_POETS_DEVICES_MAX)
			return wrong(a, "placement", "more than %u devices on %s",
				     PACKETWAY_POETS_DEVICES_MAX, s->name);
		dev->local = s->n;
		s->device = grow(s->device, s->n, sizeof(*s->device));
		s->device[s->n++] = d;
	}
	return ST_OK;
}

enum status app_load(struct app *a, const char *file)
{
	static const char *const known[] = {
		"task", "handlers", "properties", "types", "devices", "edges", "stations",
		"placement", "mothership", "interval", "timeout", "stop", "comment", NULL
	};
	uint32_t task = 0;
	json_error_t e;
	const char *stop;
	int err;

	memset(a, 0, sizeof(*a));
	a->file = file;
	a->root = json_load_file(file, JSON_REJECT_DUPLICATES, &e);
	if (!a->root)
		return fail(0, "%s:%d: %s", file, e.line, e.text);
	err = only(a, "application", a->root, known);
	if (!err)
		err = get_uint(a, a->root, "task", 63, &task);
	if (!err)
		err = get_uint(a, a->root, "interval", PACKETWAY_POETS_INTERVAL_MAX, &a->interval);
	if (!err)
		err = get_uint(a, a->root, "timeout", 1000000, &a->timeout);
	if (!err)
		err = get_properties(a, "application", a->root, &a->properties);
	if (err)
		return err;
	a->task = task;
	stop = json_string_value(json_object_get(a->root, "stop"));
	a->quiet = stop && !strcmp(stop, "quiet");
	if (json_object_get(a->root, "stop") && !a->quiet &&
	    (!stop || strcmp(stop, "supervisor")))
		return wrong(a, "stop", "is \"supervisor\" or \"quiet\"");
	err = get_handlers(a);
	if (!err)
		err = get_types(a);
	if (!err)
		err = get_devices(a);
	if (!err)
		err = get_edges(a);
	if (!err)
		err = get_stations(a);
	return err ? err : app_place(a);
}
