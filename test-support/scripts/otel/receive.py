"""A collector of OpenTelemetry for tests, on a free port of this machine.

Says `ready <port>`, and when standard input ends what the collector has written by then: a line
of JSON for each call, as its exporter writes them. `collector` is the program, which
`scripts/setup.sh otel` builds of the project's own modules.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))

CONFIGURATION = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:0
exporters:
  file:
    path: {directory}/came
service:
  telemetry:
    metrics:
      level: none
    logs:
      level: warn
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [file]
    metrics:
      receivers: [otlp]
      exporters: [file]
"""
LISTENING = "0A"


def port():
    """It chooses one and does not tell; it listens on no other."""
    sockets = set()
    for descriptor in glob.glob(f"/proc/{process.pid}/fd/*"):
        try:
            sockets.add(os.readlink(descriptor))
        except FileNotFoundError:
            pass
    with open("/proc/net/tcp") as file:
        for line in list(file)[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in sockets:
                return int(fields[1].split(":")[1], 16)
    return None


def wait_for_port():
    begun = time.monotonic()
    while not (found := port()):
        if process.poll() is not None:
            sys.exit(f"the collector ended with {process.returncode}")
        if time.monotonic() - begun > 60:
            sys.exit("the collector listens on no port")
        time.sleep(0.02)
    return found


directory = tempfile.mkdtemp(prefix="castellan-otel-")
try:
    path = os.path.join(directory, "collector.yaml")
    with open(path, "w") as file:
        file.write(CONFIGURATION.format(directory=directory))
    command = [options["collector"], f"--config=file:{path}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        print(f"ready {wait_for_port()}", flush=True)
        sys.stdin.read()
    finally:
        # It writes what it has.
        process.terminate()
        process.wait()
    with open(os.path.join(directory, "came")) as file:
        shutil.copyfileobj(file, sys.stdout)
    sys.stdout.flush()
finally:
    shutil.rmtree(directory, ignore_errors=True)
