"""What systems that take logs and metrics document of the calls that they take, and nothing of
who calls. docs/integrations.md names the documents.

Each check gets a call and returns what is wrong with it; `answers` is what the system says to
one that is right. `now` among the options is what the clock of the system shows, in seconds.
"""

import base64
import gzip
import json
import re
import urllib.parse

answers = {
    "loggly": (200, '{"response" : "ok"}'),
    "splunk": (200, '{"text":"Success","code":0}'),
    "datadog_logs": (202, "{}"),
    "datadog_series": (202, '{"errors":[]}'),
    "librato": (202, ""),
    "newrelic": (202, '{"requestId":"x"}'),
    "otlp_logs": (200, '{"partialSuccess":{}}'),
    "otlp_metrics": (200, "{}"),
}
HOUR = 3600
METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,199}")


class Call:
    def __init__(self, path, headers, raw, options):
        self.path, self.headers, self.raw, self.options = path, headers, raw, options
        self.now = float(options["now"])
        self.problems = []

    def must(self, holds, problem):
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def only(self, holder, names):
        more = set(holder) - set(names.split())
        self.must(not more, f"{sorted(more)} are not documented")

    def within(self, moment, past, future, what="timestamp"):
        self.must(isinstance(moment, int), f"{what} is no integer: {moment!r}")
        self.must(self.now - past <= moment <= self.now + future, f"{what} {moment} is refused")

    def kind(self, expected):
        kind = self.headers.get("content-type", "")
        self.must(kind.split(";")[0] == expected, f"content type {kind}")

    def header(self, name):
        got = self.headers.get(name)
        self.must(got == self.options["key"], f"{name} is {got}")


def unpacked(headers, raw):
    return gzip.decompress(raw) if headers.get("content-encoding") == "gzip" else raw


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def loggly(call, body):
    call.must("content-encoding" not in call.headers, "compressed")
    call.kind("text/plain")
    _, bulk, key, tag, tags, end = call.path.split("/")
    good = (bulk, key, tag, end) == ("bulk", call.options["key"], "tag", "")
    call.must(good, f"path {call.path}")
    for one in urllib.parse.unquote(tags).split(","):
        call.must(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", one), f"tag {one!r}")
    call.must(len(body) <= 5 * 10**6, "batch too large")
    for line in body.split(b"\n"):
        call.must(len(line) <= 10**6, "event too large")
        event = json.loads(line)
        moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
        call.must(re.fullmatch(moment, event["timestamp"]), "timestamp")


def splunk(call, body):
    call.must(call.path == "/services/collector/event", f"path {call.path}")
    login = call.headers.get("authorization")
    call.must(login == "Splunk " + call.options["key"], f"login {login}")
    text, decoder, at = body.decode(), json.JSONDecoder(parse_float=str), 0
    while at < len(text):
        event, at = decoder.raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        call.only(event, "time host source sourcetype index event fields")
        time = str(event["time"])
        call.must(re.fullmatch(r"\d{10}(\.\d{1,3})?", time), f"time {time}")
        call.must(isinstance(event["event"], str) and event["event"].strip(), "event is blank")
        for name in ("host", "source", "sourcetype"):
            call.must(isinstance(event[name], str) and event[name], name)
        for value in event["fields"].values():
            flat = value if isinstance(value, list) else [value]
            call.must(all(isinstance(one, str) for one in flat), f"field {value!r}")


def datadog_logs(call, body):
    call.must(call.path == "/api/v2/logs", f"path {call.path}")
    call.kind("application/json")
    call.header("dd-api-key")
    call.must(len(body) <= 5 * 10**6, "payload too large")
    events = json.loads(body)
    call.must(isinstance(events, list) and len(events) <= 1000, "number of events")
    for event in events:
        call.must(len(json.dumps(event, ensure_ascii=False).encode()) <= 10**6, "event too large")
        for name in ("message", "ddsource", "ddtags", "hostname", "service", "status"):
            call.must(isinstance(event[name], str), f"{name} is no text")
        call.must(event["ddsource"] == "kafka", "ddsource")
        call.within(event["timestamp"] // 1000, 18 * HOUR, 2 * HOUR)
        tags = event["ddtags"].split(",")
        call.must(len(tags) <= 100 and all(tags), f"tags {tags}")


def datadog_series(call, body):
    call.must(call.path == "/api/v2/series", f"path {call.path}")
    call.kind("application/json")
    call.header("dd-api-key")
    call.must(len(call.raw) <= 512000, "payload too large")
    call.must(len(body) <= 5242880, "payload too large once it is unpacked")
    document = json.loads(body)
    call.only(document, "series")
    for series in document["series"]:
        call.only(series, "metric type points unit resources tags interval source_type_name")
        call.must(METRIC.fullmatch(series["metric"]), f"metric {series['metric']}")
        call.must(series["type"] == 3, "it is no gauge")
        for point in series["points"]:
            call.only(point, "timestamp value")
            call.within(point["timestamp"], HOUR, 600)
            call.must(is_number(point["value"]), "value")
        for resource in series["resources"]:
            call.must(resource["type"] == "host" and resource["name"], f"resource {resource}")
        call.must(len(series["tags"]) <= 100, "number of tags")
        units = "percent byte millisecond second connection message day core".split()
        call.must(series.get("unit", "byte") in units, f"unit {series.get('unit')}")


def librato(call, body):
    call.must(call.path == "/v1/measurements", f"path {call.path}")
    call.kind("application/json")
    pair = base64.b64encode(call.options["key"].encode()).decode()
    login = call.headers.get("authorization")
    call.must(login == "Basic " + pair, f"login {login}")
    document = json.loads(body)
    call.only(document, "measurements tags time period")
    call.must(1 <= len(document["measurements"]) <= 300, "number of measurements")
    for one in document["measurements"]:
        call.only(one, "name value time tags attributes")
        call.must(re.fullmatch(r"[A-Za-z0-9.:_-]{1,255}", one["name"]), f"name {one['name']}")
        call.must(is_number(one["value"]), "value")
        call.must(isinstance(one["time"], int) and one["time"] < 10**10, "time")
        call.must(1 <= len(one["tags"]) <= 50, "number of tags")
        for name, value in one["tags"].items():
            call.must(re.fullmatch(r"[A-Za-z0-9.:_-]{1,64}", name), f"tag {name!r}")
            call.must(re.fullmatch(r"[A-Za-z0-9.:_ -]{1,255}", value), f"value {value!r}")


def newrelic(call, body):
    call.must(call.path == "/metric/v1", f"path {call.path}")
    call.kind("application/json")
    call.header("api-key")
    call.must(len(call.raw) <= 10**6, "payload too large")
    for block in json.loads(body):
        call.only(block, "common metrics")
        call.only(block["common"], "timestamp interval.ms attributes")
        for metric in block["metrics"]:
            call.only(metric, "name type value timestamp interval.ms attributes")
            call.must(metric["type"] == "gauge", "it is no gauge")
            call.must(len(metric["name"]) <= 255, "name")
            call.must(is_number(metric["value"]), "value")
            call.must(metric["timestamp"] > 10**12, "timestamp is not in milliseconds")
            call.within(metric["timestamp"] // 1000, 48 * HOUR, 24 * HOUR)
            attributes = {**block["common"]["attributes"], **metric["attributes"]}
            call.must(len(attributes) <= 100, "number of attributes")
            for name, value in attributes.items():
                call.must(re.fullmatch(r"[A-Za-z0-9:._]{1,255}", name), f"attribute {name!r}")
                call.must(len(str(value)) <= 4096, f"{name} is too long")


def otlp_attributes(call, attributes):
    keys = [one["key"] for one in attributes]
    call.must(len(set(keys)) == len(keys), f"keys twice: {keys}")
    for one in attributes:
        call.only(one, "key value")
        ((kind, value),) = one["value"].items()
        if kind == "arrayValue":
            call.must(all(isinstance(it["stringValue"], str) for it in value["values"]), "array")
        else:
            call.must(kind == "stringValue" and isinstance(value, str), f"value {one}")


def otlp(call, body, signal, holder, items):
    call.must(call.path == f"/gate/v1/{signal}", f"path {call.path}")
    call.kind("application/json")
    call.header("x-api-key")
    document = json.loads(body)
    call.only(document, f"resource{holder}")
    found = []
    for resource in document[f"resource{holder}"]:
        call.only(resource, f"resource scope{holder} schemaUrl")
        call.only(resource["resource"], "attributes droppedAttributesCount")
        otlp_attributes(call, resource["resource"]["attributes"])
        names = {one["key"] for one in resource["resource"]["attributes"]}
        wanted = {"service.name", "castellan.instance", "castellan.instance.id"}
        call.must(wanted <= names, f"resource {names}")
        for scope in resource[f"scope{holder}"]:
            call.only(scope, f"scope {items} schemaUrl")
            call.only(scope["scope"], "name version attributes")
            found += scope[items]
    return found


def otlp_time(call, holder, name):
    call.must(re.fullmatch(r"\d{19}", holder[name]), f"{name} {holder[name]!r}")


def otlp_logs(call, body):
    for record in otlp(call, body, "logs", "Logs", "logRecords"):
        call.only(
            record,
            "timeUnixNano observedTimeUnixNano severityNumber severityText body attributes",
        )
        otlp_time(call, record, "timeUnixNano")
        otlp_time(call, record, "observedTimeUnixNano")
        call.must(record["severityNumber"] in range(1, 25), "severityNumber")
        call.must(isinstance(record["body"]["stringValue"], str), "body")
        otlp_attributes(call, record["attributes"])


def otlp_metrics(call, body):
    for metric in otlp(call, body, "metrics", "Metrics", "metrics"):
        call.only(metric, "name description unit gauge")
        call.must(re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]{0,254}", metric["name"]), "name")
        call.must(len(metric["unit"]) <= 63, "unit")
        for point in metric["gauge"]["dataPoints"]:
            call.only(point, "attributes timeUnixNano startTimeUnixNano asDouble")
            otlp_time(call, point, "timeUnixNano")
            call.must(is_number(point["asDouble"]), "asDouble")
            otlp_attributes(call, point["attributes"])


def check(intake, path, headers, raw, options):
    try:
        call = Call(path, headers, raw, options)
        globals()[intake](call, unpacked(headers, raw))
        return call.problems
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        return [f"{type(error).__name__}: {error}"]
