// A library to preload (ld.so(8)) that makes a program's operations in one folder fail, kills the program at one of
// them, or records them.
//
// Every write, truncation, sync, removal and renaming in STATE_FAULTS_DIR is an operation. Operations are counted from 1,
// over all threads of the process. All other calls are passed on unchanged.
//
//   STATE_FAULTS_DIR    the absolute path of the folder, without symbolic links
//   STATE_FAULTS_LOG    a file to which operations are appended, see below
//   STATE_FAULTS_FAIL   the number of the operation that fails (0: none); removals and renamings never fail
//   STATE_FAULTS_ERROR  the error of a failed operation: EIO or ENOSPC
//   STATE_FAULTS_STAYS  set to 1: all later operations fail, too
//   STATE_FAULTS_KILL   the number of the sync before which the process is killed; only syncs count (0: none)
//   STATE_FAULTS_BYTES  set to 1: the log contains the bytes that were written
//   STATE_FAULTS_BOOT   a file that is read instead of the machine's boot_id, which changes after a power cut
//
// A record of the log is a line `KIND\tOFFSET\tLENGTH\tPATH\n`, followed by LENGTH bytes:
// W a write, T a truncation to OFFSET, S a sync that has ended, U a removal, R a renaming (the bytes are the new path),
// F an operation that failed as requested, K the kill. A record is written before its operation, except S, which is
// written after it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);

static const char *folder = "";
static size_t folder_length;
static int journal = -1;
static int has_bytes, stays, error_number = EIO;
static long fail_at, kill_at, operations, syncs;

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static void begin(void) {
  *(void **)&real_write = dlsym(RTLD_NEXT, "write");
  *(void **)&real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  *(void **)&real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  *(void **)&real_fsync = dlsym(RTLD_NEXT, "fsync");
  *(void **)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  *(void **)&real_unlink = dlsym(RTLD_NEXT, "unlink");
  *(void **)&real_rename = dlsym(RTLD_NEXT, "rename");
  const char *text = getenv("STATE_FAULTS_DIR");
  if (text) folder = text;
  folder_length = strlen(folder);
  fail_at = number("STATE_FAULTS_FAIL");
  kill_at = number("STATE_FAULTS_KILL");
  stays = number("STATE_FAULTS_STAYS") == 1;
  has_bytes = number("STATE_FAULTS_BYTES") == 1;
  text = getenv("STATE_FAULTS_ERROR");
  if (text && !strcmp(text, "ENOSPC")) error_number = ENOSPC;
  text = getenv("STATE_FAULTS_LOG");
  if (text) journal = open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// Whether a path is in the folder. The progress that a run publishes once a second is not part of its state, and its
// writes would shift the numbers of the operations.
static int is_inside(const char *path) {
  if (strstr(path, "/progress.json")) return 0;
  return folder_length && !strncmp(path, folder, folder_length) &&
         (path[folder_length] == '/' || path[folder_length] == 0);
}

// Whether a descriptor's file is in the folder; if so, `path` is its path.
static int find(int descriptor, char path[PATH_MAX]) {
  pthread_once(&once, begin);
  if (!folder_length) return 0;
  int kept = errno;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  errno = kept;
  if (length < 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

// Whether an absolute path is in the folder. The result for a relative path is always 0.
static int find_name(const char *name) {
  pthread_once(&once, begin);
  return name && name[0] == '/' && is_inside(name);
}

static void put(const void *bytes, size_t count) {
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = syscall(SYS_write, journal, rest, count);
    if (written <= 0) abort();
    rest += written;
    count -= (size_t)written;
  }
}

static void record(char kind, long long offset, const void *bytes, size_t count, const char *path) {
  if (journal < 0) return;
  int kept = errno;
  char line[PATH_MAX + 80];
  int length = snprintf(line, sizeof line, "%c\t%lld\t%zu\t%s\n", kind, offset, count, path);
  put(line, (size_t)length);
  if (count) put(bytes, count);
  errno = kept;
}

// Counts an operation, and returns whether it must fail. The caller holds the lock.
static int fails(const char *what, const char *path) {
  operations += 1;
  if (!fail_at || operations < fail_at || (operations > fail_at && !stays)) return 0;
  record('F', operations, what, strlen(what), path);
  errno = error_number;
  return 1;
}

// Must not call pthread_once, because `begin`, which pthread_once calls, opens a file.
static int open_file(const char *path, int flags, mode_t mode) {
  const char *boot = getenv("STATE_FAULTS_BOOT");
  if (boot && path && !strcmp(path, "/proc/sys/kernel/random/boot_id")) path = boot;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  char path[PATH_MAX];
  if (!find(descriptor, path)) return real_pwrite(descriptor, bytes, count, offset);
  pthread_mutex_lock(&lock);
  ssize_t result = -1;
  if (!fails("pwrite", path)) {
    record('W', offset, bytes, has_bytes ? count : 0, path);
    result = real_pwrite(descriptor, bytes, count, offset);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite64(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  char path[PATH_MAX];
  if (!find(descriptor, path)) return real_write(descriptor, bytes, count);
  pthread_mutex_lock(&lock);
  ssize_t result = -1;
  if (!fails("write", path)) {
    record('W', lseek(descriptor, 0, SEEK_CUR), bytes, has_bytes ? count : 0, path);
    result = real_write(descriptor, bytes, count);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate64(int descriptor, off_t length) {
  char path[PATH_MAX];
  if (!find(descriptor, path)) return real_ftruncate(descriptor, length);
  pthread_mutex_lock(&lock);
  int result = -1;
  if (!fails("ftruncate", path)) {
    record('T', length, NULL, 0, path);
    result = real_ftruncate(descriptor, length);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

static int synced(int descriptor, const char *what, int (*real)(int)) {
  char path[PATH_MAX];
  if (!find(descriptor, path)) return real(descriptor);
  pthread_mutex_lock(&lock);
  syncs += 1;
  if (kill_at && syncs == kill_at) {
    record('K', syncs, NULL, 0, path);
    kill(getpid(), SIGKILL);
    // The process must not access a file or the network until the signal kills it.
    for (;;) pause();
  }
  int result = -1;
  if (!fails(what, path)) {
    // The test reads the data from the page cache, so a real sync would only slow the test down.
    result = journal >= 0 && has_bytes ? 0 : real(descriptor);
    if (result == 0) record('S', syncs, NULL, 0, path);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int descriptor) {
  pthread_once(&once, begin);
  return synced(descriptor, "fsync", real_fsync);
}

int fdatasync(int descriptor) {
  pthread_once(&once, begin);
  return synced(descriptor, "fdatasync", real_fdatasync);
}

int unlink(const char *path) {
  if (!find_name(path)) return real_unlink(path);
  pthread_mutex_lock(&lock);
  record('U', 0, NULL, 0, path);
  int result = real_unlink(path);
  pthread_mutex_unlock(&lock);
  return result;
}

int rename(const char *from, const char *to) {
  if (!find_name(from)) return real_rename(from, to);
  pthread_mutex_lock(&lock);
  record('R', 0, to, strlen(to), from);
  int result = real_rename(from, to);
  pthread_mutex_unlock(&lock);
  return result;
}
