"""A receiver of syslog for tests: rsyslog on a free port of this machine.

Says `ready <port>` and then one line of JSON for each message, until standard input ends: with
the test process, however that ends. Arguments are pairs of name and value. `port` is where it
listens, if it was there before. `cert` and `tls-key` (files) make it speak TLS.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
rsyslogd = shutil.which("rsyslogd") or "/usr/sbin/rsyslogd"

TLS = """
global(
    defaultNetstreamDriver="ossl"
    defaultNetstreamDriverCAFile="{cert}"
    defaultNetstreamDriverCertFile="{cert}"
    defaultNetstreamDriverKeyFile="{key}"
)
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
"""
PLAIN = """
module(load="imtcp")
"""
# What it takes for a message it writes as it came, line feeds and all. It ends once it has written
# what it read, however long that takes.
REST = """
global(
    workDirectory="{directory}"
    maxMessageSize="128k"
    parser.escapeControlCharactersOnReceive="off"
)
main_queue(queue.timeoutShutdown="60000")
template(name="all" type="list" option.jsonf="on") {{
    property(outname="message" name="msg" format="jsonf")
    property(outname="severity" name="syslogseverity-text" format="jsonf")
    property(outname="facility" name="syslogfacility-text" format="jsonf")
    property(outname="at" name="timereported" dateFormat="rfc3339" format="jsonf")
    property(outname="host" name="hostname" format="jsonf")
    property(outname="program" name="app-name" format="jsonf")
    property(outname="data" name="structured-data" format="jsonf")
}}
ruleset(name="keep") {{
    action(type="omfile" file="{directory}/messages" template="all")
}}
input(
    type="imtcp" address="127.0.0.1" port="{port}" listenPortFileName="{directory}/port"
    ruleset="keep"
)
"""


# As the kernel lists connections.
ESTABLISHED, CLOSE_WAIT = "01", "08"


def configuration(directory):
    tls = "cert" in options
    head = TLS.format(cert=options["cert"], key=options["tls-key"]) if tls else PLAIN
    return head + REST.format(directory=directory, port=options.get("port", "0"))


def wait_for(done, what):
    begun = time.monotonic()
    while not (found := done()):
        if process.poll() is not None:
            sys.exit(f"rsyslogd ended with {process.returncode}")
        if time.monotonic() - begun > 60:
            sys.exit(f"rsyslogd has no {what}")
        time.sleep(0.02)
    return found


def port():
    # It writes down one that it chose, and no other.
    if "port" in options:
        try:
            socket.create_connection(("127.0.0.1", int(options["port"]))).close()
            return options["port"]
        except ConnectionRefusedError:
            return None
    try:
        with open(os.path.join(directory, "port")) as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


def is_read():
    """Whether it has read what came, and has seen the end of each connection that ended. What it
    has not read when it ends is lost."""
    with open("/proc/net/tcp") as file:
        connections = [line.split() for line in list(file)[1:]]
    for _, local, _, state, queues, *_ in connections:
        if int(local.split(":")[1], 16) != listening:
            continue
        unread = int(queues.split(":")[1], 16)
        if state == CLOSE_WAIT or (state == ESTABLISHED and unread > 0):
            return False
    return True


def tell(ended):
    """Every message once its line is complete."""
    path, rest = os.path.join(directory, "messages"), ""
    while not os.path.exists(path):
        if ended.wait(0.02):
            return
    with open(path) as file:
        while True:
            last = ended.is_set()
            rest += file.read()
            *lines, rest = rest.split("\n")
            for line in lines:
                print(line)
            sys.stdout.flush()
            if last:
                return
            ended.wait(0.02)


directory = tempfile.mkdtemp(prefix="castellan-syslog-")
try:
    path = os.path.join(directory, "rsyslog.conf")
    with open(path, "w") as file:
        file.write(configuration(directory))
    command = [rsyslogd, "-n", "-f", path, "-i", os.path.join(directory, "pid")]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        listening = int(wait_for(port, "port"))
        print(f"ready {listening}", flush=True)
        ended = threading.Event()
        teller = threading.Thread(target=tell, args=[ended])
        teller.start()
        sys.stdin.read()
        wait_for(is_read, "end of what comes")
    finally:
        # It writes what it has.
        process.terminate()
        process.wait()
    ended.set()
    teller.join()
finally:
    shutil.rmtree(directory, ignore_errors=True)
