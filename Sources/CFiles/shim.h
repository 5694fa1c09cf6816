#ifndef FERRY_CFILES_SHIM_H
#define FERRY_CFILES_SHIM_H

// Calls of the kernel that the C library shows to GNU sources only, or not at all: Swift sees neither.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#include <sys/xattr.h>

/// The first place of some bytes in others, in linear time.
void *memmem(const void *bytes, size_t size, const void *part, size_t part_size);
#endif

/// Opens a folder to pass through it and not to read it, for which the right to search it is enough.
#if defined(O_PATH)
static const int ferry_o_search = O_PATH;
#elif defined(__O_PATH)
static const int ferry_o_search = __O_PATH;
#else
static const int ferry_o_search = O_SEARCH;
#endif

/// Whether an open folder is one of proc(5).
static inline int ferry_is_in_proc(int folder) {
#ifdef __linux__
  struct statfs system;
  // PROC_SUPER_MAGIC of linux/magic.h.
  return fstatfs(folder, &system) == 0 && system.f_type == 0x9fa0;
#else
  (void)folder;
  return 0;
#endif
}

/// rename(2) that never replaces: EEXIST where the new name is there (renameat2(2), RENAME_NOREPLACE).
static inline int ferry_rename_new(int from, const char *old_name, int to, const char *new_name) {
#ifdef SYS_renameat2
  return (int)syscall(SYS_renameat2, from, old_name, to, new_name, 1u);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// open(2) of what lies beneath a folder, whatever links are on the way (openat2(2), RESOLVE_BENEATH and
/// RESOLVE_NO_MAGICLINKS): EXDEV where they lead out of it. Where they are not followed, ELOOP
/// (RESOLVE_NO_SYMLINKS).
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

/// Gives an open file the access ACL (acl(5)) of a path: 1 where it now has one, 0 where the path has none and the
/// file has lost what it inherited from its folder, -1 where it could not be given. A link is not followed.
static inline int ferry_copy_acl(const char *path, int file) {
#ifdef __linux__
  static const char name[] = "system.posix_acl_access";
  char acl[4096];
  ssize_t size = lgetxattr(path, name, acl, sizeof acl);
  if (size > 0) return fsetxattr(file, name, acl, (size_t)size, 0) == 0 ? 1 : -1;
  if (size < 0 && errno != ENODATA && errno != EOPNOTSUPP && errno != ENOSYS) return -1;
  if (fremovexattr(file, name) == 0 || errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS) return 0;
  return -1;
#else
  return 0;
#endif
}

/// Brings everything of a file system to the disk (syncfs(2)).
static inline int ferry_sync_file_system(int file) {
#ifdef SYS_syncfs
  return (int)syscall(SYS_syncfs, file);
#else
  errno = ENOSYS;
  return -1;
#endif
}

#endif
