"""System calls that a container's seccomp profile refuses (seccomp(2), Documentation/userspace-api/seccomp_filter.rst), for the
children of a test."""

import ctypes
import errno
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
AF_NETLINK = 16

# socket, perf_event_open: include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls/syscall_64.tbl.
NUMBERS = {"x86_64": (41, 298), "aarch64": (198, 241)}


def can_refuse():
    return platform.machine() in NUMBERS


def refuse(*what):
    """For preexec_fn=: "perf" refuses perf_event_open, "netlink" sockets of netlink(7), for this process and its children."""
    socket, perf_event_open = NUMBERS[platform.machine()]
    program = [(LOAD, 0, 0, 0)]  # the call's number
    if "perf" in what:
        program += [(JUMP_IF_EQUAL, 0, 1, perf_event_open), (RETURN, 0, 0, ERRNO | errno.EPERM)]
    if "netlink" in what:
        program += [(JUMP_IF_EQUAL, 0, 3, socket), (LOAD, 0, 0, 16), (JUMP_IF_EQUAL, 0, 1, AF_NETLINK),
                    (RETURN, 0, 0, ERRNO | errno.EPERM)]
    program += [(RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *each) for each in program)
    libc = ctypes.CDLL(None, use_errno=True)

    def before_exec():
        # struct sock_fprog: a length and a pointer.
        text = ctypes.create_string_buffer(code)
        filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(text)))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")

    return before_exec
