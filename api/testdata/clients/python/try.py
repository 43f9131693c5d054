"""Uses the client that openapi-python-client has generated: see scripts/clients."""

import os

from hourbell_api import AuthenticatedClient
from hourbell_api.api.jobs import cancel_job, enqueue_job, get_job, list_jobs, retry_job, send_signal
from hourbell_api.api.schedules import delete_schedule, put_schedule
from hourbell_api.api.stats import read_stats
from hourbell_api.models import ChangeTo, Definition, ListJobsStateType0Item, NewJob, Problem, ReadStatsBy, SignalBody

client = AuthenticatedClient(base_url=os.environ["HOURBELL_URL"], token=os.environ["HOURBELL_TOKEN"])

job = enqueue_job.sync(client=client, body=NewJob(kind="client", args={"customer": 42, "by": "python"}, in_="1h"), idempotency_key="python")
again = enqueue_job.sync(client=client, body=NewJob(kind="client", args={"customer": 42, "by": "python"}, in_="1h"), idempotency_key="python")
assert job.id == again.id, (job, again)
wrong = enqueue_job.sync(client=client, body=NewJob(kind=" "))
assert isinstance(wrong, Problem) and wrong.status == 422 and wrong.errors[0].field == "kind", wrong
found = list_jobs.sync(client=client, state=[ListJobsStateType0Item.SCHEDULED], args=["by=python", "customer=42"])
assert [j.id for j in found.items] == [job.id] and not found.partial, found
for status in 204, 409:
    answer = send_signal.sync_detailed(job.id, "approval", client=client, body=SignalBody(value={"by": "ann"}))
    assert answer.status_code == status, answer
untaken = retry_job.sync(job.id, client=client, body=ChangeTo(from_="charge"))
assert isinstance(untaken, Problem) and untaken.status == 422 and untaken.errors[0].field == "from", untaken
step = get_job.sync(job.id, client=client).steps[0]
assert step.name == "approval" and step.sort == "signal", step
assert cancel_job.sync(job.id, client=client).change == "changed"
assert get_job.sync(job.id, client=client).state == "cancelled"

definition = Definition(cron="0 9 * * 1-5", tz="Europe/Prague", kind="client", args={})
made = put_schedule.sync_detailed("clients/python", client=client, body=definition, if_none_match="*")
assert made.status_code == 201 or made.status_code == 200, made
assert put_schedule.sync_detailed("clients/python", client=client, body=definition, if_none_match="*").status_code == 412
definition.cron = "30 9 * * 1-5"
changed = put_schedule.sync_detailed("clients/python", client=client, body=definition, if_match=made.headers["ETag"])
assert changed.parsed.name == "clients/python" and changed.headers["ETag"] != made.headers["ETag"], changed
assert put_schedule.sync_detailed("clients/python", client=client, body=definition, if_match=made.headers["ETag"]).status_code == 412
assert delete_schedule.sync_detailed("clients/python", client=client).status_code == 204
assert read_stats.sync(client=client, since="1d", by=ReadStatsBy.QUEUE).span_seconds
print("python: done")
