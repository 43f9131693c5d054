#!/usr/bin/env python3
"""Defines a schedule and enqueues a job over the HTTP API of Hourbell, with the standard library alone.

    HOURBELL_URL=http://127.0.0.1:8080 HOURBELL_TOKEN=… python3 hourbell_api.py

HOURBELL_TOKEN may be left out for a node without users on the same computer.
"""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("HOURBELL_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("HOURBELL_TOKEN", "")


def call(method, path, body=None, **headers):
    """Returns the headers and the body of the answer. The exception of a refusal has the problem and the remedy."""
    request = urllib.request.Request(URL + path, method=method)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if TOKEN:
        request.add_header("Authorization", "Bearer " + TOKEN)
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as refusal:
        raise RuntimeError(f"{method} {path}: {json.load(refusal)['detail']}") from refusal


def schedule_path(name):
    """Returns the path of a schedule. A name may contain any character, also /."""
    return "/api/v1/schedules/" + urllib.parse.quote(name, safe="")


def main():
    # A schedule: a report on each weekday.
    name = "reports/daily"
    headers, schedule = call("PUT", schedule_path(name), {
        "cron": "0 7 * * 1-5", "tz": "Europe/Prague", "kind": "report", "args": {"format": "pdf"},
    })
    print("schedule", schedule["name"], "rings next at", schedule["next_at"])

    # A change that does not undo a change that another program makes at the same time.
    call("PUT", schedule_path(name), {
        "cron": "30 6 * * 1-5", "tz": "Europe/Prague", "kind": "report", "args": {"format": "pdf"},
    }, If_Match=headers["ETag"])

    # A job. The key makes it safe to send the request again if no answer arrived.
    for _ in range(2):
        _, job = call("POST", "/api/v1/jobs", {"kind": "mail", "args": {"to": "ada@example.org"}, "queue": "mail"},
                      Idempotency_Key="order-17/confirmation")
        print("job", job["id"])

    # What there is to do: all pages of a list.
    cursor = ""
    while cursor is not None:
        query = {"state": "ready", "limit": 100}
        if cursor:
            query["cursor"] = cursor
        _, page = call("GET", "/api/v1/jobs?" + urllib.parse.urlencode(query))
        for job in page["items"]:
            print("ready:", job["id"], job["kind"], job["queue"])
        cursor = page["next"]


if __name__ == "__main__":
    main()
