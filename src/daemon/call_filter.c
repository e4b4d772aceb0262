#include "daemon/call_filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* System calls that would help an attacker who has taken over a node. */
static const char *const REFUSED[] = {"execve",
                                      "execveat",
                                      "ptrace",
                                      "process_vm_readv",
                                      "process_vm_writev",
                                      "kcmp",
                                      "pidfd_getfd",
                                      "mount",
                                      "umount2",
                                      "pivot_root",
                                      "chroot",
                                      "move_mount",
                                      "open_tree",
                                      "fsopen",
                                      "fsconfig",
                                      "fsmount",
                                      "fspick",
                                      "mount_setattr",
                                      "unshare",
                                      "setns",
                                      "init_module",
                                      "finit_module",
                                      "delete_module",
                                      "kexec_load",
                                      "kexec_file_load",
                                      "bpf",
                                      "perf_event_open",
                                      "userfaultfd",
                                      "add_key",
                                      "request_key",
                                      "keyctl",
                                      "setuid",
                                      "setgid",
                                      "setreuid",
                                      "setregid",
                                      "setresuid",
                                      "setresgid",
                                      "setfsuid",
                                      "setfsgid",
                                      "setgroups",
                                      "capset",
                                      "reboot",
                                      "swapon",
                                      "swapoff",
                                      "settimeofday",
                                      "clock_settime",
                                      "adjtimex",
                                      "clock_adjtime",
                                      "sethostname",
                                      "setdomainname",
                                      "acct",
                                      "quotactl",
                                      "quotactl_fd",
                                      "syslog",
                                      "iopl",
                                      "ioperm",
                                      "modify_ldt",
                                      "personality",
                                      "vhangup",
                                      "nfsservctl",
                                      "open_by_handle_at",
                                      "lookup_dcookie",
                                      "io_uring_setup",
                                      "io_uring_enter",
                                      "io_uring_register",
                                      "memfd_secret",
                                      "fanotify_init"};

/* AddressSanitizer's leak check, at the end of the program, uses ptrace. */
static bool is_needed_here(const char *call)
{
#ifdef __SANITIZE_ADDRESS__
    return strcmp(call, "ptrace") == 0;
#else
    (void)call;
    return false;
#endif
}

/* Returns a condition on argument number i (from 0) of a system call. */
static struct scmp_arg_cmp argument(unsigned i, enum scmp_compare how, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = i, .op = how, .datum_a = value};
}

/* Returns the condition that argument number i (from 0) equals `value` in the bits of the mask
 * `bits`. */
static struct scmp_arg_cmp bits_of_argument(unsigned i, scmp_datum_t bits, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){
        .arg = i, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = value};
}

/* Refuses address families other than Unix, IPv4, IPv6 and netlink. Refuses netlink protocols other
 * than NETLINK_ROUTE and, in other families, IP protocols with a number above UDP's. Returns 0, or
 * a negative errno. */
static int refuse_odd_sockets(scmp_filter_ctx filter)
{
    static const int used[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    const uint32_t refusal = SCMP_ACT_ERRNO(EPERM);
    const int call = SCMP_SYS(socket);
    int error = seccomp_rule_add(filter, refusal, call, 1, argument(0, SCMP_CMP_GT, AF_NETLINK));
    for (int family = AF_UNSPEC; family < AF_NETLINK && error == 0; family++) {
        bool is_used = false;
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
            is_used |= family == used[i];
        if (!is_used)
            error = seccomp_rule_add(filter, refusal, call, 1,
                                     argument(0, SCMP_CMP_EQ, (scmp_datum_t)family));
    }
    if (error == 0)
        error = seccomp_rule_add(filter, refusal, call, 2, argument(0, SCMP_CMP_EQ, AF_NETLINK),
                                 /* 0 = NETLINK_ROUTE */
                                 argument(2, SCMP_CMP_NE, 0));
    if (error == 0)
        error = seccomp_rule_add(filter, refusal, call, 2, argument(0, SCMP_CMP_NE, AF_NETLINK),
                                 /* SCTP and MPTCP, for example */
                                 argument(2, SCMP_CMP_GT, IPPROTO_UDP));
    return error;
}

/* Refuses processes in new namespaces, but allows new threads. The filter cannot read the flags of
 * clone3. clone3 fails with ENOSYS, so that the C library uses clone instead. */
static int refuse_namespaces(scmp_filter_ctx filter)
{
    static const int flags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0] && error == 0; i++) {
        const scmp_datum_t flag = (scmp_datum_t)flags[i];
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 bits_of_argument(0, flag, flag));
    }
    return error;
}

/* Refuses the ioctl calls that type characters into the terminal of the node. */
static int refuse_typing(scmp_filter_ctx filter)
{
    static const unsigned requests[] = {TIOCSTI, TIOCLINUX};
    int error = 0;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0] && error == 0; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                 bits_of_argument(1, 0xffffffff, requests[i]));
    return error;
}

bool call_filter_enter(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0] && error == 0; i++) {
        const int call = seccomp_syscall_resolve_name(REFUSED[i]);
        /* call < 0: this machine lacks the system call */
        if (call >= 0 && !is_needed_here(REFUSED[i]))
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    if (error == 0)
        error = refuse_odd_sockets(filter);
    if (error == 0)
        error = refuse_namespaces(filter);
    if (error == 0)
        error = refuse_typing(filter);
    if (error == 0)
        error = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    errno = -error;
    return error == 0;
}
