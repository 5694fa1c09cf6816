// A library to preload (ld.so(8)) with which creating the nth thread and all later ones fails, as it does at the limit of
// RLIMIT_NPROC or pids.max.
//
// THREAD_FAULTS_FROM=n: the first n calls of pthread_create succeed, and every later one returns EAGAIN.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  static atomic_long created;
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  const char *limit = getenv("THREAD_FAULTS_FROM");
  if (limit && atomic_fetch_add(&created, 1) >= atol(limit)) return EAGAIN;
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
