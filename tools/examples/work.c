// SPDX-License-Identifier: GPL-2.0
/*
 * Backtracking on all stations (DIB): work STATION STATIONS SEED
 *                                     work --sequential SEED
 *
 * A queen in each row of a board, none of which attacks another. SEED forbids some
 * squares and gives all of them prices. How many solutions are there, what is the
 * price of the cheapest, and how many placements were tried to find that?
 *
 * A task is a board whose upper rows are filled. A process keeps its open tasks
 * in a heap, the largest (fewest rows filled) on top, and stores the size of that
 * one in its PRIORITY register. A process without tasks asks the ring for the
 * maximum, and that station, by a message, for tasks; it gets half of the heap.
 *
 * The end takes three commands, in this order: R, the tasks messages received; T,
 * the tasks that processes have; S, the tasks messages sent. If T is 0 and R = S,
 * then no tasks are left: both counts only grow and R <= S at any moment, so no
 * such message was sent, received or on its way between the first command and
 * the third, and a process without tasks gets some by a message only.
 */
#include "apps.h"

#define SIZE	12
#define GRAIN	8	/* a task with at most this many rows to go is not divided */
#define BATCH	64	/* most tasks in a message */

enum { PRIORITY, TASKS, SENT, RECEIVED, SOLUTIONS, CHEAPEST, TRIED, REGS };
enum { TE_ASK = 1, TE_GIVE };

/* bit i: column i is attacked in the next row, by a queen above or diagonally */
struct task {
	uint32_t rows;		/* filled */
	uint32_t price;
	uint32_t above, left, right;
};

struct found {
	uint64_t solutions, cheapest, tried;
};

struct heap {
	struct task *t;
	int n, room;
};

struct work {
	struct app a;
	struct heap h;
	struct found f;
	uint64_t sent, received;
	bool asked;		/* and no answer yet */
};

static uint32_t forbidden[SIZE];
static uint32_t price[SIZE][SIZE];

static void make_board(uint64_t seed)
{
	int row, col;

	for (row = 0; row < SIZE; row++) {
		for (col = 0; col < SIZE; col++) {
			uint64_t x = pick(seed, row, col);

			price[row][col] = 1 + x % 1000;
			if ((x >> 32 & 15) == 0)
				forbidden[row] |= 1U << col;
		}
	}
}

static void push(struct heap *h, const struct task *t)
{
	int i;

	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 256;
		h->t = realloc(h->t, h->room * sizeof(*h->t));
		if (!h->t)
			err(1, "tasks");
	}
	for (i = h->n++; i && h->t[(i - 1) / 2].rows > t->rows; i = (i - 1) / 2)
		h->t[i] = h->t[(i - 1) / 2];
	h->t[i] = *t;
}

static struct task pop(struct heap *h)
{
	struct task top = h->t[0], last = h->t[--h->n];
	int i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->t[child + 1].rows < h->t[child].rows)
			child++;
		if (h->t[child].rows >= last.rows)
			break;
		h->t[i] = h->t[child];
		i = child;
	}
	h->t[i] = last;
	return top;
}

/* fill the next row in every way; boards that result go to @h, or are solved here if it is NULL */
static void solve(const struct task *t, struct found *f, struct heap *h)
{
	uint32_t free = ~(t->above | t->left | t->right | forbidden[t->rows]) & ((1U << SIZE) - 1);
	uint32_t bit;

	for (; free; free &= ~bit) {
		struct task next;

		bit = free & -free;
		next = (struct task) {
			.rows = t->rows + 1,
			.price = t->price + price[t->rows][__builtin_ctz(bit)],
			.above = t->above | bit,
			.left = (t->left | bit) << 1,
			.right = (t->right | bit) >> 1,
		};
		f->tried++;
		if (next.rows < SIZE) {
			if (h)
				push(h, &next);
			else
				solve(&next, f, NULL);
			continue;
		}
		f->solutions++;
		if (next.price < f->cheapest)
			f->cheapest = next.price;
	}
}

static void print_found(const struct found *f)
{
	printf("solutions %llu, cheapest %llu, tried %llu\n", (unsigned long long)f->solutions,
	       (unsigned long long)f->cheapest, (unsigned long long)f->tried);
}

/* what was found is in the registers before the task that gave it is gone from TASKS */
static void show(struct work *w)
{
	set(&w->a.r, SOLUTIONS, w->f.solutions);
	set(&w->a.r, CHEAPEST, w->f.cheapest);
	set(&w->a.r, TRIED, w->f.tried);
	set(&w->a.r, PRIORITY, w->h.n ? SIZE - w->h.t[0].rows : 0);
	set(&w->a.r, TASKS, w->h.n);
}

/* half of the heap, or an empty message */
static void give(struct work *w, uint32_t to)
{
	struct task t[BATCH];
	int i, n = (w->h.n + 1) / 2;

	if (n > BATCH)
		n = BATCH;
	for (i = 0; i < n; i++)
		t[i] = pop(&w->h);
	if (n)
		set(&w->a.r, SENT, ++w->sent);	/* before TASKS shrinks */
	show(w);
	post(&w->a, to, TE_GIVE, t, n * sizeof(t[0]));
}

static bool hear(void *program, int ms)
{
	struct work *w = program;
	struct pwl_eep m;
	struct task t;
	size_t i;

	if (!collect(&w->a, &m, ms))
		return false;
	if (m.te == TE_ASK) {
		give(w, m.src);
		return true;
	}
	w->asked = false;
	for (i = 0; i < m.len / sizeof(t); i++) {
		memcpy(&t, (const char *)m.data + i * sizeof(t), sizeof(t));
		push(&w->h, &t);
	}
	show(w);
	if (m.len)
		set(&w->a.r, RECEIVED, ++w->received);	/* after TASKS has grown */
	return true;
}

static bool finished(struct work *w)
{
	uint64_t received = ask(&w->a.r, PW_ATON_OP_ADD, RECEIVED).v1;
	uint64_t tasks = ask(&w->a.r, PW_ATON_OP_ADD, TASKS).v1;
	uint64_t sent = ask(&w->a.r, PW_ATON_OP_ADD, SENT).v1;

	return !tasks && received == sent;
}

static void run(struct work *w)
{
	struct pwl_result best;
	struct task t;

	for (;;) {
		while (hear(w, 0))
			;
		if (w->h.n) {
			t = pop(&w->h);
			solve(&t, &w->f, SIZE - t.rows > GRAIN ? &w->h : NULL);
			show(w);
			continue;
		}
		if (w->asked) {
			hear(w, 100);
			continue;
		}
		best = ask(&w->a.r, PW_ATON_OP_MAX, PRIORITY);
		if (best.v1) {
			w->asked = true;
			post(&w->a, best.v2, TE_ASK, NULL, 0);
			continue;
		}
		if (finished(w))
			return;
		hear(w, 5);
	}
}

int main(int argc, char **argv)
{
	struct work w = { .f.cheapest = UINT64_MAX };
	struct task all = {};
	uint64_t seed;

	if (!app_start(&w.a, argc, argv, REGS, &seed)) {
		make_board(seed);
		solve(&all, &w.f, NULL);
		print_found(&w.f);
		return 0;
	}
	make_board(seed);
	places(&w.a.r);
	if (w.a.r.place == 0)
		solve(&all, &w.f, &w.h);
	show(&w);
	meet(&w.a.r);
	/* the first process has all tasks; it begins when the first other one has asked */
	if (w.a.r.place == 0 && w.a.r.n > 1)
		while (!w.sent)
			hear(&w, 1000);
	run(&w);

	/* another process may have asked before the last tasks were done: answer it */
	serve(&w.a, hear, &w);
	printf("# tried %llu here, received tasks %llu times, gave %llu times\n",
	       (unsigned long long)w.f.tried, (unsigned long long)w.received,
	       (unsigned long long)w.sent);
	w.f.solutions = ask(&w.a.r, PW_ATON_OP_ADD, SOLUTIONS).v1;
	w.f.cheapest = ask(&w.a.r, PW_ATON_OP_MIN, CHEAPEST).v1;
	w.f.tried = ask(&w.a.r, PW_ATON_OP_ADD, TRIED).v1;
	print_found(&w.f);
	app_end(&w.a);
	free(w.h.t);
	return 0;
}
