// A library to preload (ld.so(8)) that shifts the time of day while a program runs. As when a user sets the clock, the
// monotonic clock, which programs use to wait, is not changed.
//
//   STATE_FAULTS_CLOCK  a file with the shift in seconds, which is read whenever the program requests the time
//
// libfaketime has the same effect, but a Swift program loses its arguments if libfaketime is preloaded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long shift(void) {
  const char *path = getenv("STATE_FAULTS_CLOCK");
  if (!path) return 0;
  int kept = errno;
  char text[32] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t count = read(file, text, sizeof text - 1);
    if (count < 0) text[0] = 0;
    close(file);
  }
  errno = kept;
  return atoll(text);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = (int)syscall(SYS_gettimeofday, time, zone);
  if (result == 0) time->tv_sec += shift();
  return result;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
