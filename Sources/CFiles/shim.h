#ifndef FERRY_CFILES_SHIM_H
#define FERRY_CFILES_SHIM_H

// System calls that Swift cannot import, because the C library declares them only for GNU sources or not at
// all.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#include <sys/xattr.h>

/// Finds the first occurrence of one byte sequence in another, in linear time.
void *memmem(const void *bytes, size_t size, const void *part, size_t part_size);
#endif

/// Flag for opening a folder only to access entries in it. Search permission is enough; read permission is
/// not needed.
#if defined(O_PATH)
static const int ferry_o_search = O_PATH;
#elif defined(__O_PATH)
static const int ferry_o_search = __O_PATH;
#else
static const int ferry_o_search = O_SEARCH;
#endif

/// Whether an open folder is in a proc(5) file system.
static inline int ferry_is_in_proc(int folder) {
#ifdef __linux__
  struct statfs system;
  // PROC_SUPER_MAGIC in linux/magic.h.
  return fstatfs(folder, &system) == 0 && system.f_type == 0x9fa0;
#else
  (void)folder;
  return 0;
#endif
}

/// rename(2) that never replaces a file: EEXIST if the new name exists (renameat2(2), RENAME_NOREPLACE).
static inline int ferry_rename_new(int from, const char *old_name, int to, const char *new_name) {
#ifdef SYS_renameat2
  return (int)syscall(SYS_renameat2, from, old_name, to, new_name, 1u);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// open(2) beneath a folder, following any links on the way (openat2(2), RESOLVE_BENEATH and
/// RESOLVE_NO_MAGICLINKS). A link that leads out of the folder causes EXDEV. If links must not be followed
/// (RESOLVE_NO_SYMLINKS), any link causes ELOOP.
static inline int ferry_open_beneath(int folder, const char *path, int flags, int follows_links) {
#ifdef SYS_openat2
  uint64_t resolve = 0x08 | 0x02 | (follows_links ? 0 : 0x04);
  struct { uint64_t flags, mode, resolve; } how = { (uint64_t)(unsigned)flags, 0, resolve };
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
#else
  errno = ENOSYS;
  return -1;
#endif
}

#ifdef __linux__
static const char ferry_access_acl[] = "system.posix_acl_access";
static const char ferry_default_acl[] = "system.posix_acl_default";

/// Whether the last call failed because there is no such ACL.
static inline int ferry_is_without_acl(void) {
  return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS;
}
#endif

/// Reads the access ACL (acl(5)) of an open file or folder, which may be open only for search. Returns the size of the
/// ACL; 0 if there is none; -1 if it cannot be determined.
static inline ssize_t ferry_get_acl(int file, void *acl, size_t size) {
#ifdef __linux__
  ssize_t count = fgetxattr(file, ferry_access_acl, acl, size);
  if (count < 0 && errno == EBADF) {
    // The file is open with O_PATH.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    count = getxattr(path, ferry_access_acl, acl, size);
  }
  return count < 0 && ferry_is_without_acl() ? 0 : count;
#else
  (void)file, (void)acl, (void)size;
  return 0;
#endif
}

/// Sets the access ACL of an open file or folder, or removes it if the size is 0. Returns 0, or -1 in case of an error.
static inline int ferry_set_acl(int file, const void *acl, size_t size) {
#ifdef __linux__
  if (size > 0) return fsetxattr(file, ferry_access_acl, acl, size, 0);
  return fremovexattr(file, ferry_access_acl) == 0 || ferry_is_without_acl() ? 0 : -1;
#else
  (void)file, (void)acl, (void)size;
  return 0;
#endif
}

/// Whether new entries of an open folder inherit an ACL. Also true if this cannot be determined.
static inline int ferry_has_default_acl(int folder) {
#ifdef __linux__
  ssize_t size = fgetxattr(folder, ferry_default_acl, NULL, 0);
  return size > 0 || (size < 0 && !ferry_is_without_acl());
#else
  (void)folder;
  return 0;
#endif
}

/// Copies the access ACL of a path to an open file, without following a link. Returns 1 if the file now has that ACL;
/// 0 if the path has no ACL and the ACL that the file inherited from its folder has been removed; -1 if the ACL could
/// not be set.
static inline int ferry_copy_acl(const char *path, int file) {
#ifdef __linux__
  char acl[4096];
  ssize_t size = lgetxattr(path, ferry_access_acl, acl, sizeof acl);
  if (size < 0 && !ferry_is_without_acl()) return -1;
  if (ferry_set_acl(file, acl, size > 0 ? (size_t)size : 0) != 0) return -1;
  return size > 0 ? 1 : 0;
#else
  (void)path, (void)file;
  return 0;
#endif
}

/// Reserves the next `cost` nanoseconds of a schedule that processes share through mapped memory, and returns the start
/// of the reservation, in nanoseconds of the same clock as `now`. `*end` is the end of the last reservation. Time that
/// was not reserved is lost, except for the last `burst` nanoseconds. An end beyond `now + horizon` is not a reservation
/// of a process of this boot, and is ignored.
static inline int64_t ferry_reserve(int64_t *end, int64_t now, int64_t cost, int64_t burst, int64_t horizon) {
  int64_t old = __atomic_load_n(end, __ATOMIC_RELAXED), start;
  do {
    start = old < now - burst ? now - burst : old > now + horizon ? now : old;
  } while (!__atomic_compare_exchange_n(end, &old, start + cost, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return start;
}

/// Returns `cost` nanoseconds that were reserved but not used.
static inline void ferry_give_back(int64_t *end, int64_t cost) {
  __atomic_fetch_sub(end, cost, __ATOMIC_RELAXED);
}

/// Syncs all data of a file system to disk (syncfs(2)).
static inline int ferry_sync_file_system(int file) {
#ifdef SYS_syncfs
  return (int)syscall(SYS_syncfs, file);
#else
  errno = ENOSYS;
  return -1;
#endif
}

#endif
