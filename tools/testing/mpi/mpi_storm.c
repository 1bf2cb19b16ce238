// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_storm TALLY COUNT SEED HOW: so many barriers, sums and broadcasts, all checked. A rank ends
 * on the way, at a moment that a timer chooses; HOW: kill, exit, segv, or none. The others stop at
 * the first error, until mpirun ends them. What was done is added up in the file TALLY, as ranks
 * that are killed print nothing: struct tally.
 *
 * mpi_storm TALLY: prints it.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

struct tally {
	_Atomic uint64_t collectives, wrong, errors, finished, died;
};

static struct tally *tally;
static volatile int *forbidden;
static const char *how;
static int rank, n;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static struct tally *map(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(*tally)))
		p = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		perror(file);
		exit(2);
	}
	return p;
}

static void die(int sig)
{
	tally->died++;
	if (*how == 'k')
		raise(SIGKILL);
	if (*how == 'e')
		_exit(3);
	signal(SIGSEGV, SIG_DFL);
	*forbidden = 1;
}

static void arm(uint64_t us)
{
	struct itimerval t = { .it_value.tv_usec = 1 + us };

	signal(SIGALRM, die);
	setitimer(ITIMER_REAL, &t, NULL);
}

static uint64_t operand(uint64_t seed, uint64_t k, int r)
{
	return mix(seed ^ mix(k * 4096 + r));
}

/* 1: an error */
static int collective(uint64_t seed, uint64_t k)
{
	uint64_t dice = operand(seed, k, 4095), got, want = 0, own = operand(seed, k, rank);
	int err, r, root = dice / 3 % n;

	switch (dice % 3) {
	case 0:
		return MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
	case 1:
		for (r = 0; r < n; r++)
			want += operand(seed, k, r);
		err = MPI_Allreduce(&own, &got, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		break;
	default:
		want = operand(seed, k, root);
		got = own;
		err = MPI_Bcast(&got, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
	}
	if (err != MPI_SUCCESS)
		return 1;
	if (got != want) {
		tally->wrong++;
		fprintf(stderr, "rank %d: WRONG in collective %llu\n", rank, (unsigned long long)k);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	uint64_t k, count, seed, at;

	if (argc != 2 && argc != 5)
		return 2;
	tally = map(argv[1]);
	if (argc == 2) {
		printf("%llu collectives, %llu wrong; ranks: %llu finished, %llu got errors, %llu ended\n",
		       (unsigned long long)tally->collectives, (unsigned long long)tally->wrong,
		       (unsigned long long)tally->finished, (unsigned long long)tally->errors,
		       (unsigned long long)tally->died);
		return 0;
	}
	forbidden = mmap(NULL, sizeof(*forbidden), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setrlimit(RLIMIT_CORE, &none);
	count = strtoull(argv[2], NULL, 0);
	seed = strtoull(argv[3], NULL, 0);
	how = argv[4];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	at = mix(seed) % count;
	for (k = 0; k < count; k++) {
		if (*how != 'n' && rank == (int)(seed % n) && k == at)
			arm(mix(seed + 1) % 5000);
		if (collective(seed, k)) {
			tally->errors++;
			/* mpirun ends this job */
			sleep(600);
		}
		tally->collectives++;
	}
	/* one that was to end and has not had the time */
	if (*how != 'n' && rank == (int)(seed % n))
		die(0);
	MPI_Finalize();
	tally->finished++;
	return 0;
}
