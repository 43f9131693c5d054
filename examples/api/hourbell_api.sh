#!/bin/sh
# Defines a schedule and enqueues a job over the HTTP API of Hourbell, with curl.
#
#   HOURBELL_URL=http://127.0.0.1:8080 HOURBELL_TOKEN=… ./hourbell_api.sh
#
# HOURBELL_TOKEN may be left out for a node without users on the same computer.
set -eu
url=${HOURBELL_URL:-http://127.0.0.1:8080}

# call METHOD PATH [curl options]… prints the answer; a refusal has the problem and the remedy, and ends the script. The
# token comes on the standard input of curl, because other users can see the arguments of a process.
call() {
	method=$1 path=$2
	shift 2
	printf 'header = "Authorization: Bearer %s"\n' "${HOURBELL_TOKEN:-}" |
		if [ -n "${HOURBELL_TOKEN:-}" ]; then cat; fi |
		curl -sS --fail-with-body --max-time 30 --config - -X "$method" -H 'Content-Type: application/json' "$@" "$url$path"
}

call PUT '/api/v1/schedules?name=reports/hourly' -d '{"every":"1h","kind":"report","args":{"format":"csv"}}'
call POST /api/v1/jobs -d '{"kind":"mail","args":{"to":"ada@example.org"}}' -H 'Idempotency-Key: order-18/confirmation'
call GET '/api/v1/jobs?state=ready&kind=mail'
