"""A webhook's other side: checks the signature and prints what came.

Usage: webhook.py SECRET FAILS HOLDS. The first line is the port it listens on; then
one line of JSON for each call. Calls whose state is in the file FAILS are answered
503; those whose state is in the file HOLDS are answered once it is not there any more.
"""

import hashlib
import hmac
import http.server
import json
import sys
import time

SECRET = sys.argv[1].encode()
FAILS, HOLDS = sys.argv[2:]


def names(path, state):
    with open(path) as file:
        return state in file.read().split()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        stamp = self.headers.get("X-Castellan-Timestamp", "")
        expected = hmac.new(SECRET, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        signed = self.headers.get("X-Castellan-Signature") == "sha256=" + expected
        document = json.loads(body)
        failed = names(FAILS, document["state"])
        held = names(HOLDS, document["state"])
        line = {"signed": signed, "failed": failed, "type": self.headers["Content-Type"]}
        line = json.dumps(line | {"body": document})
        if held:
            # It has come, and whoever sent it does not know.
            print(line, flush=True)
            while names(HOLDS, document["state"]):
                time.sleep(0.02)
        self.send_response(503 if failed else 204)
        self.end_headers()
        if not held:
            print(line, flush=True)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
