//go:build linux

package cron

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/crontab"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// line is a line of a crontab as Hourbell understands it.
type line struct {
	File    string
	Line    int
	AtStart bool    // it runs at the start of the machine
	Minutes []int64 // the instants of the week at which it fires, in Unix time
	Run     run     // how it called the shell
}

// playHourbell acts as Hourbell on a machine: it reads all crontabs, computes
// when each line fires from start on and before end, and runs each line once.
// It prints a line of JSON for each.
func playHourbell(start, end time.Time) error {
	zone := crontab.LocalZone()
	files, err := filepath.Glob("/etc/cron.d/*")
	if err != nil {
		return err
	}
	for _, file := range append(files, "/etc/crontab") {
		if err := play(crontab.Reader{Form: crontab.System, Zone: zone}, file, start, end); err != nil {
			return err
		}
	}
	if files, err = filepath.Glob("/var/spool/cron/crontabs/*"); err != nil {
		return err
	}
	for _, file := range files {
		if err := play(crontab.Reader{Zone: zone, User: filepath.Base(file)}, file, start, end); err != nil {
			return err
		}
	}
	return nil
}

// play reads one crontab.
func play(reader crontab.Reader, name string, start, end time.Time) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := reader.Read(name, text)
	if err != nil {
		return err
	}
	for _, entry := range file.AtStart {
		if err := playEntry(line{File: name, Line: entry.Line, AtStart: true}, entry); err != nil {
			return err
		}
	}
	for _, entry := range file.Entries {
		rule, err := entry.Rule.Rule(start)
		if err != nil {
			return err
		}
		l := line{File: name, Line: entry.Line}
		for at := rule.Next(start.Add(-time.Second)); !at.IsZero() && at.Before(end); at = rule.Next(at) {
			l.Minutes = append(l.Minutes, at.Unix())
		}
		if err := playEntry(l, entry); err != nil {
			return err
		}
	}
	return nil
}

// playEntry runs the entry's command as a node would, and prints the line.
func playEntry(l line, entry declared.Entry) error {
	before, err := os.ReadFile("/run/runs")
	if err != nil {
		return err
	}
	job := &hourbell.JobRow{ID: 7, Kind: declared.Raw(entry.Job).Name, RawArgs: declared.Raw(entry.Job).JSON, Attempt: 1, Token: 9}
	if err := (kinds.CommandWorker{}).Work(context.Background(), job); err != nil {
		return fmt.Errorf("%s:%d: %w", l.File, l.Line, err)
	}
	after, err := os.ReadFile("/run/runs")
	if err != nil {
		return err
	}
	runs, err := decodeRuns(after[len(before):])
	if err != nil {
		return err
	}
	if len(runs) != 1 {
		return fmt.Errorf("%s:%d: the shell was called %d times", l.File, l.Line, len(runs))
	}
	l.Run = runs[0]
	return json.NewEncoder(os.Stdout).Encode(l)
}
