"""Amazon's services for tests: moto on a free port of this machine.

Says `ready <port>`, and when standard input ends what it has come to hold: a line of JSON for
each event of a log and for each point of a metric, read with Amazon's own client.
"""

import datetime
import json
import sys

import boto3
from moto.server import ThreadedMotoServer

REGION = "eu-west-1"


def client(service, port):
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="id",
        aws_secret_access_key="key",
    )


def events(logs):
    for group in logs.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        for stream in logs.describe_log_streams(logGroupName=name)["logStreams"]:
            token = {}
            while True:
                page = logs.get_log_events(
                    logGroupName=name,
                    logStreamName=stream["logStreamName"],
                    startFromHead=True,
                    **token,
                )
                for event in page["events"]:
                    yield {
                        "group": name,
                        "stream": stream["logStreamName"],
                        "timestamp": event["timestamp"],
                        "message": event["message"],
                    }
                if token.get("nextToken") == page["nextForwardToken"] or not page["events"]:
                    break
                token = {"nextToken": page["nextForwardToken"]}


def points(cloudwatch):
    now = datetime.datetime.now(datetime.timezone.utc)
    seen = []
    for page in cloudwatch.get_paginator("list_metrics").paginate():
        for metric in page["Metrics"]:
            # It lists a metric once for each of its points.
            if metric in seen:
                continue
            seen.append(metric)
            found = cloudwatch.get_metric_statistics(
                Namespace=metric["Namespace"],
                MetricName=metric["MetricName"],
                Dimensions=metric["Dimensions"],
                StartTime=now - datetime.timedelta(hours=2),
                EndTime=now + datetime.timedelta(hours=1),
                Period=60,
                Statistics=["Sum", "SampleCount"],
            )
            for point in found["Datapoints"]:
                yield {
                    "namespace": metric["Namespace"],
                    "name": metric["MetricName"],
                    "dimensions": {one["Name"]: one["Value"] for one in metric["Dimensions"]},
                    "sum": point["Sum"],
                    "count": point["SampleCount"],
                    "unit": point.get("Unit"),
                }


server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
print(f"ready {port}", flush=True)
sys.stdin.read()
for one in events(client("logs", port)):
    print(json.dumps(one))
for one in points(client("cloudwatch", port)):
    print(json.dumps(one))
sys.stdout.flush()
server.stop()
