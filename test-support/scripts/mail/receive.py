"""A mail server for tests: aiosmtpd on a free port of this machine.

Says `ready <port>` and then one line of JSON for each mail, until standard
input ends: with the test process, however that ends. Arguments are pairs of
name and value: `cert` and `key` (files) make STARTTLS a must, `user` and
`password` a login, `answer` is what it says to every mail, and `hang` makes it
never say anything to one.
"""

import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))


def part(of):
    """As a mail program reads it."""
    text = None if of.is_multipart() else of.get_content()
    return {"type": of.get_content_type(), "text": text}


class Handler:
    async def handle_DATA(self, server, session, envelope):
        if "hang" in options:
            await asyncio.sleep(3600)
        if "answer" in options:
            return options["answer"]
        parsed = email.message_from_bytes(envelope.content, policy=email.policy.default)
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "data": envelope.content.decode("utf-8"),
            "subject": parsed["subject"],
            "parts": [part(of) for of in parsed.walk()],
            "tls": session.ssl is not None,
            "login": session.authenticated,
        }
        print(json.dumps(mail), flush=True)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    expected = (options["user"].encode(), options["password"].encode())
    return AuthResult(success=(data.login, data.password) == expected, handled=False)


settings = {}
if "cert" in options:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["cert"], options["key"])
    settings.update(tls_context=context, require_starttls=True)
if "user" in options:
    settings.update(
        authenticator=authenticate, auth_required=True, auth_require_tls="cert" in options
    )


async def serve():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(Handler(), hostname="localhost", loop=loop, **settings), "127.0.0.1", 0
    )
    print(f"ready {server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(serve())
