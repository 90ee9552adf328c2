"""What services document of the calls that they take, and nothing of who calls.

Each check gets a call and returns what is wrong with it; `answers` is what the
service says to one that is right.
"""

import hashlib
import hmac
import json
import re
import urllib.parse

STATES = {"triggered", "resolved", "reminder", "test"}
answers = {
    "webhook": (204, ""),
    "slack": (200, "ok"),
    "teams": (202, ""),
    "pagerduty": (202, '{"status":"success","message":"Event processed","dedup_key":"x"}'),
    "opsgenie": (202, '{"result":"Request will be processed","took":0.3,"requestId":"x"}'),
    "victorops": (200, '{"result":"success","entity_id":"x"}'),
    "signl4": (201, '{"eventId":"x"}'),
}


class Call:
    def __init__(self, path, headers, raw, options):
        self.path, self.headers, self.raw, self.options = path, headers, raw, options
        self.body = json.loads(raw)
        self.problems = []

    def must(self, holds, problem):
        if not holds:
            self.problems.append(problem)

    def text(self, holder, name, longest, needed=True):
        value = holder.get(name)
        if value is None and not needed:
            return
        self.must(isinstance(value, str) and value != "", f"{name} is no text: {value!r}")
        self.must(len(value or "") <= longest, f"{name} is longer than {longest}")

    def only(self, holder, names):
        more = set(holder) - set(names)
        self.must(not more, f"{sorted(more)} are not documented")


def webhook(call):
    fields = (
        "id state alarm_id alarm_type instance_id instance_name server value value_threshold "
        "time_threshold triggered_at resolved_at message"
    ).split()
    call.must(set(call.body) == set(fields), f"fields are {sorted(call.body)}")
    call.must(call.body["state"] in STATES, "state")
    call.must(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", call.body["id"]), "id")
    timestamp = call.headers.get("x-castellan-timestamp", "")
    call.must(re.fullmatch(r"[0-9]{10}", timestamp), "no timestamp")
    signature = call.headers.get("x-castellan-signature")
    if "secret" not in call.options:
        call.must(signature is None, "signed without a secret")
        return
    signed = timestamp.encode() + b"." + call.raw
    expected = hmac.new(call.options["secret"].encode(), signed, hashlib.sha256).hexdigest()
    good = hmac.compare_digest(signature or "", f"sha256={expected}")
    call.must(good, f"signature is {signature}")


def slack_blocks(call, blocks):
    call.must(1 <= len(blocks) <= 50, "number of blocks")
    for block in blocks:
        kind = block["type"]
        if kind == "header":
            call.must(block["text"]["type"] == "plain_text", "header is no plain text")
            call.text(block["text"], "text", 150)
        elif kind == "section":
            texts = [block["text"]] if "text" in block else block["fields"]
            call.must(1 <= len(texts) <= 10, "number of fields")
            for text in texts:
                call.must(text["type"] in ("mrkdwn", "plain_text"), "kind of text")
                call.text(text, "text", 3000 if "text" in block else 2000)
        elif kind == "context":
            call.must(1 <= len(block["elements"]) <= 10, "number of elements")
        else:
            call.must(False, f"block {kind}")


def slack(call):
    call.only(call.body, ["text", "blocks", "attachments"])
    call.text(call.body, "text", 40000)
    slack_blocks(call, call.body["blocks"])
    for attachment in call.body["attachments"]:
        call.only(attachment, ["color", "blocks"])
        call.must(re.fullmatch("#[0-9a-f]{6}", attachment["color"]), "color")
        slack_blocks(call, attachment["blocks"])
    without_escapes = re.sub("&(amp|lt|gt);", "", call.raw.decode())
    call.must(not re.search("[&<>]", without_escapes), "something is not escaped")


def teams(call):
    call.must(len(call.raw) <= 28 * 1024, "too large")
    call.must(call.body["type"] == "message", "type")
    (attachment,) = call.body["attachments"]
    call.only(attachment, ["contentType", "contentUrl", "content"])
    kind = attachment["contentType"]
    call.must(kind == "application/vnd.microsoft.card.adaptive", "contentType")
    card = attachment["content"]
    call.must(card["type"] == "AdaptiveCard", "card's type")
    call.must(card["version"] in ("1.2", "1.3", "1.4"), "version")
    call.must(card["$schema"].startswith("http://adaptivecards.io/schemas/"), "schema")
    for element in card["body"]:
        call.must(element["type"] == "RichTextBlock", f"element {element['type']}")
        for run in element["inlines"]:
            call.must(run["type"] == "TextRun", "run")
            call.text(run, "text", 28 * 1024)


def pagerduty(call):
    call.must(call.path == "/v2/enqueue", "path")
    call.only(
        call.body,
        "routing_key event_action dedup_key payload client client_url links images".split(),
    )
    call.must(call.body["routing_key"] == call.options["key"], "routing_key")
    call.text(call.body, "dedup_key", 255)
    action = call.body["event_action"]
    call.must(action in ("trigger", "acknowledge", "resolve"), "event_action")
    if action != "trigger":
        return
    payload = call.body["payload"]
    call.only(
        payload,
        "summary source severity timestamp component group class custom_details".split(),
    )
    call.text(payload, "summary", 1024)
    call.text(payload, "source", 1024)
    call.must(payload["severity"] in ("critical", "error", "warning", "info"), "severity")
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
    call.must(re.fullmatch(moment, payload.get("timestamp", "2026-01-01T00:00:00Z")), "timestamp")
    call.must(isinstance(payload["custom_details"], dict), "custom_details")


def opsgenie(call):
    call.must(call.headers.get("authorization") == "GenieKey " + call.options["key"], "login")
    url = urllib.parse.urlsplit(call.path)
    if url.path != "/v2/alerts":
        call.must(re.fullmatch("/v2/alerts/[^/]{1,512}/close", url.path), f"path {url.path}")
        call.must(url.query == "identifierType=alias", f"query {url.query}")
        call.only(call.body, ["user", "source", "note"])
        return
    call.only(
        call.body,
        "message alias description responders visibleTo actions tags details entity source "
        "priority user note".split(),
    )
    call.text(call.body, "message", 130)
    call.text(call.body, "alias", 512)
    call.text(call.body, "description", 15000)
    call.text(call.body, "entity", 512, needed=False)
    call.text(call.body, "source", 100, needed=False)
    call.must(call.body["priority"] in ("P1", "P2", "P3", "P4", "P5"), "priority")
    call.must(len(call.body["tags"]) <= 20, "number of tags")
    call.must(all(len(tag) <= 50 for tag in call.body["tags"]), "a tag is too long")
    details = call.body["details"]
    call.must(all(isinstance(value, str) for value in details.values()), "details are no texts")
    call.must(sum(map(len, [*details, *details.values()])) <= 8000, "details are too long")
    for responder in call.body.get("responders", []):
        call.must(responder["type"] in ("team", "user", "escalation", "schedule"), "responder")
        call.must(set(responder) & {"id", "name", "username"}, "responder without a name")


def victorops(call):
    path = f"/integrations/generic/20131114/alert/{call.options['key']}/{call.options['route']}"
    call.must(call.path == path, f"path {call.path}")
    kinds = ("CRITICAL", "WARNING", "ACKNOWLEDGEMENT", "INFO", "RECOVERY")
    call.must(call.body["message_type"] in kinds, "message_type")
    call.text(call.body, "entity_id", 512)
    call.text(call.body, "entity_display_name", 512)
    call.text(call.body, "state_message", 20480)
    start = call.body.get("state_start_time", 1)
    call.must(isinstance(start, int) and start < 10**10, "state_start_time is no time in seconds")


def signl4(call):
    call.must(call.path == f"/webhook/{call.options['key']}", f"path {call.path}")
    call.text(call.body, "Title", 10000)
    call.text(call.body, "X-S4-ExternalID", 512)
    call.must(call.body["X-S4-Status"] in ("new", "acknowledged", "resolved"), "status")
    steering = {"Service", "Location", "AlertingScenario", "Filtering", "ExternalID"}
    steering |= {"Status", "SourceSystem"}
    for name in call.body:
        known = not name.startswith("X-S4-") or name[5:] in steering
        call.must(known, f"{name} is not documented")


def check(vendor, path, headers, raw, options):
    try:
        call = Call(path, headers, raw, options)
        kind = headers.get("content-type", "")
        call.must(kind.startswith("application/json"), f"content type {kind}")
        globals()[vendor](call)
        return call.problems
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [f"{type(error).__name__}: {error}"]
