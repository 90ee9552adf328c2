"""Looks for everything that code inside a tenant's broker could reach, and says what it found.

Reads a list of addresses and ports from a file and prints one JSON document: what let it
connect, what else worked, and who it was.
"""
import concurrent.futures
import ctypes
import json
import os
import socket
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
NEWNET = 0x40000000

with open(sys.argv[1]) as file:
    wanted = json.load(file)
worked = []


def attempt(name, action):
    """What raises did not work."""
    try:
        action()
        worked.append(name)
    except (OSError, ValueError, subprocess.SubprocessError):
        pass


def connects(target):
    host, port = target
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(1)
        try:
            stream.connect((host, port))
            return True
        except OSError:
            return False


def answers(target):
    """Whether a name is looked up there."""
    question = b"\x12\x34\x01\x00\x00\x01" + bytes(6) + b"\x07example\x03com\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(1)
        try:
            datagrams.sendto(question, (target, 53))
            return bool(datagrams.recv(512))
        except OSError:
            return False


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def enter(path):
    with open(path, "rb") as namespace:
        if libc.setns(namespace.fileno(), NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "refused")


def send_raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP).close()


def send_frames():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


targets = [(host, port) for host in wanted["hosts"] for port in wanted["ports"]]
with concurrent.futures.ThreadPoolExecutor(64) as many:
    open_there = [t for t, is_open in zip(targets, many.map(connects, targets)) if is_open]
    names = [h for h, said in zip(wanted["hosts"], many.map(answers, wanted["hosts"])) if said]
attempt("send raw packets", send_raw)
attempt("send frames", send_frames)
attempt("take an address", lambda: run("ip", "address", "add", wanted["spare"], "dev", "eth0"))
attempt("turn the link off", lambda: run("ip", "link", "set", "eth0", "down"))
attempt("lift the rules", lambda: run("nft", "flush", "ruleset"))
for path in wanted["namespaces"]:
    attempt("enter %s" % path, lambda: enter(path))
print(json.dumps({
    "open": ["%s:%d" % target for target in open_there],
    "names": names,
    "worked": worked,
    "tried": len(targets),
    "uid": os.getuid(),
    "namespace": os.readlink("/proc/self/ns/net"),
}))
