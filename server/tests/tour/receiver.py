"""A webhook's other side: checks the signature and prints what came.

Usage: receiver.py SECRET. The first line is the port it listens on; then one line
of JSON for each call. Calls whose state is in the file FAILS are answered 503.
"""

import hashlib
import hmac
import http.server
import json
import sys

SECRET = sys.argv[1].encode()
FAILS = sys.argv[2]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        stamp = self.headers.get("X-Castellan-Timestamp", "")
        expected = hmac.new(SECRET, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        signed = self.headers.get("X-Castellan-Signature") == "sha256=" + expected
        document = json.loads(body)
        with open(FAILS) as fails:
            failed = document["state"] in fails.read().split()
        self.send_response(503 if failed else 204)
        self.end_headers()
        line = {"signed": signed, "failed": failed, "type": self.headers["Content-Type"]}
        print(json.dumps(line | {"body": document}), flush=True)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
