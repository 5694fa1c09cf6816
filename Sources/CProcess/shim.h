#ifndef FERRY_CPROCESS_SHIM_H
#define FERRY_CPROCESS_SHIM_H

// Functions for the process, its threads and its children. Swift cannot import them, because they are
// variadic or the C library declares them only for GNU sources.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>

// The C library declares these functions only under _GNU_SOURCE or _DEFAULT_SOURCE.
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int signalfd(int descriptor, const sigset_t *signals, int flags);

static inline void ferry_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

/// prctl(2), PR_SET_DUMPABLE: 0 forbids core dumps and tracing by processes without CAP_SYS_PTRACE.
static inline int ferry_set_dumpable(int is_dumpable) {
  return prctl(PR_SET_DUMPABLE, (unsigned long)is_dumpable, 0ul, 0ul, 0ul);
}

/// Sets FD_CLOEXEC on every descriptor from `first` upwards (close_range(2), CLOSE_RANGE_CLOEXEC, Linux
/// 5.11).
static inline int ferry_close_on_exec_from(unsigned first) {
#ifdef SYS_close_range
  return (int)syscall(SYS_close_range, first, ~0u, 4u);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// A descriptor that becomes readable when one of the signals is pending (signalfd(2), with SFD_CLOEXEC and
/// SFD_NONBLOCK). The signals must be blocked.
static inline int ferry_signal_descriptor(const sigset_t *signals) {
  // The two flags have the values of O_CLOEXEC and O_NONBLOCK.
  return signalfd(-1, signals, 02000000 | 04000);
}

#define FERRY_SPAWN_SETSID 0x80
#else
static inline int ferry_signal_descriptor(const sigset_t *signals) {
  (void)signals;
  errno = ENOSYS;
  return -1;
}

static inline void ferry_set_thread_name(const char *name) { pthread_setname_np(name); }

static inline int ferry_set_dumpable(int is_dumpable) {
  (void)is_dumpable;
  errno = ENOSYS;
  return -1;
}

static inline int ferry_close_on_exec_from(unsigned first) {
  (void)first;
  errno = ENOSYS;
  return -1;
}

#define FERRY_SPAWN_SETSID 0x0400
#endif

/// Whether the process ignores a signal.
static inline int ferry_ignores_signal(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Adds an action to posix_spawn(3) that runs the child in another folder.
static inline int ferry_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

#endif
