/* Preloaded into a process: its CLOCK_REALTIME is off by what the file $FAKE_CLOCK says (int64 [s]).

   The clock of the machine stays as it is, and so do the monotonic ones. Waits until a moment of
   CLOCK_REALTIME end at that moment of the process's clock, also when that is set back meanwhile; what
   isn't shown is that setting it forward ends them early. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t nothing;
static const volatile int64_t *offset = &nothing;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("FAKE_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *found = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (found != MAP_FAILED) offset = found;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *out) {
  int failed = (int)syscall(SYS_clock_gettime, clock, out);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    out->tv_sec += *offset;
  return failed;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

/* Moments that can only be of CLOCK_REALTIME: the clock of a condition variable is unknown. */
static int is_realtime(const struct timespec *moment) { return moment->tv_sec > 1000000000; }

/* Call `wait`, an expression with the moment `real` of the kernel's clock, until it ends in time. */
#define WAIT_UNTIL(moment, timed_out, wait)                                                        \
  for (;;) {                                                                                       \
    int64_t begun = *offset;                                                                       \
    struct timespec real = *(moment);                                                              \
    if (is_realtime(moment)) real.tv_sec -= begun;                                                 \
    int result = (wait);                                                                           \
    if (!(timed_out) || *offset >= begun || !is_realtime(moment)) return result;                   \
  }

/* The one programs are linked to: without its version the oldest one would be found. */
static void *next(const char *name, const char *version) {
  void *found = dlvsym(RTLD_NEXT, name, version);
  return found ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict moment) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!wait) wait = next("pthread_cond_timedwait", "GLIBC_2.3.2");
  WAIT_UNTIL(moment, result == ETIMEDOUT, wait(condition, mutex, &real))
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict moment) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
  if (!wait) wait = next("pthread_cond_clockwait", "GLIBC_2.30");
  WAIT_UNTIL(moment, result == ETIMEDOUT, wait(condition, mutex, clock, &real))
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                            const struct timespec *restrict moment) {
  static int (*lock)(pthread_mutex_t *, const struct timespec *);
  if (!lock) lock = next("pthread_mutex_timedlock", "GLIBC_2.2.5");
  WAIT_UNTIL(moment, result == ETIMEDOUT, lock(mutex, &real))
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict moment) {
  static int (*wait)(sem_t *, const struct timespec *);
  if (!wait) wait = next("sem_timedwait", "GLIBC_2.2.5");
  WAIT_UNTIL(moment, result && errno == ETIMEDOUT, wait(semaphore, &real))
}
