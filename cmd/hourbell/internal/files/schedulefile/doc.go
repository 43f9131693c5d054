// Package schedulefile reads schedules from a YAML file, and writes them:
//
//	owner: nightly            # optional; else "file:" and the file's base name
//	revision: 7               # optional
//	on_failure: https://example.org/alert    # optional, for all schedules
//	groups:                   # optional, for the schedules of a group
//	  backups: {on_failure: mail -s "no backup" ops}
//	calendars:                # optional, for the schedules that exclude them
//	  holidays: {dates: ["12-24..12-26 Christmas"], weekdays: [sun]}
//	limits:                   # optional
//	  exports: {kind: export, by_key: true, concurrency: 1}
//	  api: {queue: api, rate: 10/s, burst: 20}
//	kinds:                    # optional, for finished jobs of these kinds
//	  http: {keep: {completed: none, failed: 30d}}
//	schedules:
//	  - name: backup
//	    cron: "30 2 * * *"    # or every: 90s, or at: 2026-03-01T09:00:00Z
//	    tz: Europe/Prague
//	    command: [backup, --full]    # or shell: "line", or http: {url: …}, sql: {…}, or kind: with args:
//	    env: {LEVEL: "9"}
//	    dir: /srv
//	    timeout: 2h
//	    group: backups
//	    key: site-2           # a label of its jobs
//
// Further keys of a schedule: queue, priority, max_attempts, on_loss, paused;
// overlap (skip, queue, allow, replace), misfire (skip, once, all),
// misfire_cap, grace, window, start, stop, count, jitter, gap, fold, dialect,
// pause_after_failures; on (one, {host: NAME} or {label: KEY=VALUE}), where the jobs
// run; with command and shell also user, base (node or cron),
// stdin and detached (end or keep). cron: "@reboot" is once for each boot of a
// host, at the first start of a node that has the file; "@start" is once for each
// start of such a node.
//
// http is a mapping with url and, if needed, method, header, body, timeout,
// retry (a list of statuses) and redirects; see kinds.HTTP. The same keys
// describe the hook that calls a URL.
//
// sql is a mapping with connection, statement and, if needed, args (a list) and
// timeout; see kinds.SQL.
//
// exclude is one text or a list of texts: names of the file's calendars or, if
// the file has no calendar of that name, of the store's calendars; dates, days
// of the week and rules as recur.ParseExclude reads them. The file's own
// calendars are part of its schedules; a stored calendar is shared by all
// schedules that name it.
//
// The hooks on_start, on_success, on_failure, on_retry, on_output, on_missed,
// on_not_started and on_recovery are a line for the shell, an http or https URL, a mapping with
// command, shell or url and its details, or a list of these. The nearest hooks apply: the schedule's,
// its group's, the file's; none switches a hook off.
//
// limits has, by name, what bounds jobs of a queue, of a kind or of a key: queue, kind, by_key,
// concurrency, rate (such as 100/s), burst, weights (by key) and strict, as hourbell.Limit
// describes. They are put into the store with the schedules, under the owner of the file.
//
// kinds has, by kind, how long the nodes that have the file keep finished jobs:
// keep with completed (a duration, or none) and failed (a duration), as
// hourbell.KeepFor describes. A duration may also be a number of days, as in
// 30d. kinds is not put into the store: apply ignores it.
//
// Keys are strict, and every mistake is reported with its line, not only the
// first mistake. keys.go has the keys of each mapping, and schema.go describes
// them as a JSON Schema.
//
// A file is read in two steps: YAML text becomes a small tree (package yamltree), and
// the tree becomes schedules (read.go, hooks.go, calendars.go and retention.go). write.go is the
// reverse.
package schedulefile
