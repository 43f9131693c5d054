// Package schedulefile reads schedules from a YAML file:
//
//	owner: nightly            # optional; else "file:" and the file's base name
//	revision: 7               # optional
//	schedules:
//	  - name: backup
//	    cron: "30 2 * * *"    # or every: 90s, or at: 2026-03-01T09:00:00Z
//	    tz: Europe/Prague
//	    command: [backup, --full]    # or shell: "line", or kind: with args:
//	    env: {LEVEL: "9"}
//	    dir: /srv
//	    timeout: 2h
//
// Further keys of a schedule: queue, priority, max_attempts, on_loss, group,
// overlap, paused. Keys are strict, and every mistake is reported with its
// line, not only the first.
//
// It is read in three steps, one file each: YAML text becomes a small tree
// (tree.go, after a look at its shape in limits.go), the tree becomes
// schedules (read.go), and args become JSON (json.go).
package schedulefile
