"""Tries everything that code inside a tenant's broker could try, and says what worked.

Reads what to try from a file and prints one JSON document. It begins once a file
called `go` is there, so that it can be put where the broker is before that.
"""
import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
NEWUSER, NEWNS = 0x10000000, 0x00020000

with open(sys.argv[1]) as file:
    wanted = json.load(file)
deadline = time.time() + 30
while not os.path.exists(wanted["go"]) and time.time() < deadline:
    time.sleep(0.01)

worked = []


def attempt(name, action):
    """What raises, or answers something false, did not work."""
    try:
        if action() not in (None, False):
            worked.append(name)
    except (OSError, ValueError, subprocess.SubprocessError):
        pass


def read(path):
    with open(path, "rb") as file:
        return len(file.read(64)) >= 0


def change(path):
    with open(path, "r+b"):
        return True


def put(directory):
    path = os.path.join(directory, "planted-%d" % os.getpid())
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)
    return True


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return True


def call(function, *arguments):
    result = function(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return True


def trace(pid):
    call(libc.ptrace, PTRACE_SEIZE, pid, 0, 0)
    libc.ptrace(PTRACE_DETACH, pid, 0, 0)
    return True


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def peek(pid):
    local = ctypes.create_string_buffer(8)
    here = Piece(ctypes.addressof(local), 8)
    there = Piece(0x400000, 8)
    return call(libc.process_vm_readv, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)


def files(kind, paths, action):
    for path in paths:
        attempt("%s %s" % (kind, path), lambda: action(path))


def all_files():
    files("read", wanted["read"], read)
    files("list", wanted["list"], lambda path: os.listdir(path) is not None)
    files("change", wanted["read"] + wanted["change"], change)
    files("put into", wanted["list"] + wanted["put"], put)


all_files()
for pid in wanted["pids"]:
    at = "/proc/%d/" % pid
    attempt("signal %d" % pid, lambda: os.kill(pid, 0) is None)
    attempt("wake %d" % pid, lambda: os.kill(pid, 18) is None)
    attempt("trace %d" % pid, lambda: trace(pid))
    attempt("peek into %d" % pid, lambda: peek(pid))
    attempt("limit %d" % pid, lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE) is not None)
    attempt("slow down %d" % pid, lambda: os.setpriority(os.PRIO_PROCESS, pid, 19) is None)
    attempt("move %d" % pid, lambda: os.sched_setaffinity(pid, {0}) is None)
    for name in ["environ", "mem", "maps", "auxv", "io", "smaps"]:
        attempt("read %s%s" % (at, name), lambda: read(at + name))
    for name in ["cwd", "root", "exe"]:
        attempt("follow %s%s" % (at, name), lambda: os.readlink(at + name))
    attempt("list %sfd" % at, lambda: os.listdir(at + "fd") is not None)
for group in wanted["groups"]:
    attempt("leave for %s" % group, lambda: write(group + "/cgroup.procs", "0"))
    attempt("divide %s" % group, lambda: os.mkdir(group + "/planted") is None)
    for limit in ["memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", "cpu.cfs_quota_us"]:
        attempt("lift %s/%s" % (group, limit), lambda: write(os.path.join(group, limit), "-1"))

attempt("be root", lambda: os.setuid(0) is None)
attempt("be root in effect", lambda: os.seteuid(0) is None)
attempt("be root as before", lambda: os.setresuid(0, 0, 0) is None)
attempt("be root's group", lambda: os.setgid(0) is None)
attempt("have groups", lambda: os.setgroups([0]) is None)
attempt("be root by a file", lambda: subprocess.check_output([wanted["setuid"], "-u"]) == b"0\n")
attempt("send raw packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("change the root", lambda: os.chroot("/tmp") is None)
attempt("mount", lambda: call(libc.mount, b"none", b"/mnt", b"tmpfs", 0, None))
attempt("set the clock", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) is None)
if os.fork() == 0:
    # A user namespace of one's own gives capabilities there, and none here.
    before = len(worked)
    try:
        call(libc.unshare, NEWUSER | NEWNS)
        write("/proc/self/uid_map", "0 %d 1" % wanted["uid"])
    except OSError:
        pass
    all_files()
    attempt("be root from a namespace", lambda: os.setuid(0) is None and read(wanted["read"][0]))
    os._exit(len(worked) - before)
if os.waitstatus_to_exitcode(os.wait()[1]) != 0:
    worked.append("reach more from a user namespace")

with open("/proc/self/status") as status, open("/proc/self/cgroup") as groups:
    own = [path for path in wanted["own"] if os.access(path, os.R_OK)]
    print(json.dumps({"worked": worked, "own": own, "status": status.read(), "groups": groups.read()}))
