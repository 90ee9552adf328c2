"""A receiver of calls for tests: Python's own web server on a free port.

Says `ready <port>` and then one line of JSON for each call, until standard
input ends: with the test process, however that ends. Arguments are pairs of
name and value. `as` names the service that it plays, whose documented format
each call is held against; `key`, `route` and `secret` are what was agreed with
it. `cert` and `tls-key` (files) make it speak TLS. `fault` is what it does
instead of an answer: see `misbehave`.
"""

import http.server
import json
import queue
import socket
import ssl
import struct
import sys
import threading
import time

import intakes
import vendors

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
fault = options.get("fault")
said = queue.SimpleQueue()


def say(document):
    """An answer waits for nobody who reads this."""
    said.put(document)


def tell():
    while (document := said.get()) is not None:
        print(json.dumps(document), flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        say({"method": "GET", "path": self.path, "problems": ["it is no POST"]})
        self.answer(405, "")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        service = options.get("as", "webhook")
        known = intakes if service in intakes.answers else vendors
        seen = {
            "method": "POST",
            "path": self.path,
            "headers": headers,
            "raw": intakes.unpacked(headers, raw).decode(),
            "problems": known.check(service, self.path, headers, raw, options),
        }
        say(seen)
        if fault:
            self.close_connection = True
            self.misbehave()
        elif seen["problems"]:
            self.answer(400, "\n".join(seen["problems"]))
        else:
            self.answer(*known.answers[service])

    def answer(self, status, text, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def misbehave(self):
        secret = "the body, which nobody may repeat"
        if fault.isdecimal():
            self.answer(int(fault), secret)
        elif fault == "hang":
            time.sleep(3600)
        elif fault == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        elif fault == "hang up":
            pass
        elif fault == "busy":
            self.answer(429, secret, Retry_After="7")
        elif fault == "away":
            self.answer(503, secret, Retry_After="Sun, 15 Nov 2026 12:31:00 GMT")
        elif fault == "redirect":
            self.answer(302, secret, Location=f"http://127.0.0.1:{port}/elsewhere")
        elif fault == "no http":
            self.wfile.write(b"SPAM 1 banana\r\n\r\n")
        elif fault == "endless body":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            self.flood(b"x" * 65536)
        elif fault == "endless refusal":
            self.wfile.write(b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\n")
            self.flood(b"x" * 65536)
        elif fault == "endless head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.flood(b"X-More: " + b"x" * 1000 + b"\r\n")
        elif fault == "endless patience":
            while True:
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                time.sleep(0.05)
        elif fault == "drip":
            for byte in b"HTTP/1.1 200 OK\r\n" + b"X-More: x\r\n" * 1000:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)
        else:
            raise SystemExit(f"no such fault: {fault}")

    def flood(self, piece):
        written = 0
        try:
            while True:
                written += self.connection.send(piece)
        except OSError:
            say({"written": written})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Callers that go away are what some tests are about."""


server = Server(("127.0.0.1", 0), Handler)
port = server.server_address[1]
if "cert" in options:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["cert"], options["tls-key"])
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"ready {port}", flush=True)
teller = threading.Thread(target=tell, daemon=True)
teller.start()
sys.stdin.read()
said.put(None)
teller.join()
