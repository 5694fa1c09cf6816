// Starts a program as if the kernel or the container did not support some system calls. A seccomp(2) filter determines
// the results of these calls.
//
//   old-kernel renameat2=ENOSYS openat2=EPERM unlinkat=KILL -- PROGRAM [ARGUMENT…]
//
// KILL ends the process at its first such call with a folder's descriptor, as SIGKILL would. Because the kernel filters
// the calls, the program under test is unchanged.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 8
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))

static int number(const char *call, size_t length) {
  static const struct { const char *name; int number; } calls[] = {
    {"renameat2", SYS_renameat2}, {"openat2", SYS_openat2}, {"unlinkat", SYS_unlinkat}};
  for (size_t index = 0; index < sizeof calls / sizeof *calls; index++)
    if (strlen(calls[index].name) == length && !strncmp(calls[index].name, call, length))
      return calls[index].number;
  return -1;
}

static unsigned action(const char *answer) {
  if (!strcmp(answer, "ENOSYS")) return SECCOMP_RET_ERRNO | ENOSYS;
  if (!strcmp(answer, "EINVAL")) return SECCOMP_RET_ERRNO | EINVAL;
  if (!strcmp(answer, "EPERM")) return SECCOMP_RET_ERRNO | EPERM;
  if (!strcmp(answer, "KILL")) return SECCOMP_RET_KILL_PROCESS;
  return SECCOMP_RET_ALLOW;
}

int main(int count, char **arguments) {
  struct sock_filter filter[6 * MOST + 2];
  unsigned short length = 0;
  int index = 1;
  for (; index < count && index <= MOST && strcmp(arguments[index], "--"); index++) {
    const char *sign = strchr(arguments[index], '=');
    int call = sign ? number(arguments[index], (size_t)(sign - arguments[index])) : -1;
    unsigned answer = sign ? action(sign + 1) : SECCOMP_RET_ALLOW;
    if (call < 0 || answer == SECCOMP_RET_ALLOW) {
      fprintf(stderr, "old-kernel: what is %s?\n", arguments[index]);
      return 2;
    }
    struct sock_filter rule[] = {
      LOAD(nr), UNLESS((unsigned)call, 3),
      // Calls with AT_FDCWD, which the C library uses for its own files, are not filtered.
      LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)AT_FDCWD, 1, 0), ANSWER(answer)};
    memcpy(filter + length, rule, sizeof rule);
    length += sizeof rule / sizeof *rule;
  }
  if (index + 1 >= count || strcmp(arguments[index], "--")) {
    fprintf(stderr, "old-kernel: which program?\n");
    return 2;
  }
  filter[length++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
  struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("old-kernel");
    return 3;
  }
  execv(arguments[index + 1], arguments + index + 1);
  perror(arguments[index + 1]);
  return 4;
}
