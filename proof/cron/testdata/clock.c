/*
 * A clock that is preloaded into cron: time stands still while cron works, and
 * each sleep advances it without waiting, so a week passes in seconds.
 *
 * The clock is in a file that all processes of the run share, so that a
 * command started at some instant finds that instant there. To make this so,
 * cron's sleep first waits for every command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_FILE "/run/clock"

/* Unix time in seconds, in the machine's own byte order. */
static struct {
	long now;
	long end; /* cron is ended at this time */
} *shared;

__attribute__((constructor)) static void open_clock(void)
{
	int fd = open(CLOCK_FILE, O_RDWR | O_CLOEXEC);
	shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED) {
		perror(CLOCK_FILE);
		_exit(1);
	}
	close(fd);
}

time_t time(time_t *where)
{
	if (where)
		*where = shared->now;
	return shared->now;
}

unsigned int sleep(unsigned int seconds)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	shared->now += seconds;
	if (shared->now >= shared->end)
		_exit(0);
	return 0;
}
