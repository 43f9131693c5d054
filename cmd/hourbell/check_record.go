package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// fileRecord is a checked file in machine-readable output.
type fileRecord struct {
	File      string          `json:"file"`
	Form      form            `json:"form"`
	Owner     string          `json:"owner"`
	Revision  *int64          `json:"revision"`
	Schedules []entryRecord   `json:"schedules"`
	Warnings  []string        `json:"warnings"`
	LeftAlone []skippedRecord `json:"left_alone"` // ignored files of the same directory
}

type skippedRecord struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// entryRecord is a schedule, or a command that runs at the start of a node
// (rule null).
type entryRecord struct {
	Name        string                     `json:"name"`
	Line        int                        `json:"line"`
	Rule        *string                    `json:"rule"`
	TZ          *string                    `json:"tz"`
	Description *string                    `json:"description"`
	Kind        string                     `json:"kind"`
	Argv        []string                   `json:"argv"`
	User        *string                    `json:"user"`
	Dir         *string                    `json:"dir"`
	Args        json.RawMessage            `json:"args"` // without values that may be secrets
	Queue       *string                    `json:"queue"`
	MaxAttempts *int                       `json:"max_attempts"`
	Timeout     *string                    `json:"timeout"`
	OnLoss      string                     `json:"on_loss"`
	Overlap     string                     `json:"overlap"`
	Group       *string                    `json:"group"`
	Exclude     []string                   `json:"exclude"` // stored calendars by name; they were not read
	Paused      bool                       `json:"paused"`
	Hooks       map[string]json.RawMessage `json:"hooks"`
	Next        []time.Time                `json:"next"`
}

func newFileRecord(file loaded, left []skipped, now time.Time, secrets bool) fileRecord {
	r := fileRecord{
		File: file.path, Form: file.form, Owner: file.set.Owner, Revision: orNull(file.set.Revision),
		Schedules: []entryRecord{}, Warnings: []string{}, LeftAlone: []skippedRecord{},
	}
	for _, entry := range file.set.All() {
		r.Schedules = append(r.Schedules, newEntryRecord(entry, now, secrets))
	}
	for _, warning := range file.set.Warnings {
		r.Warnings = append(r.Warnings, warning.Error())
	}
	for _, s := range left {
		if file.dir != "" && filepath.Dir(s.path) == filepath.Clean(file.dir) {
			r.LeftAlone = append(r.LeftAlone, skippedRecord{s.path, s.reason})
		}
	}
	return r
}

func newEntryRecord(entry declared.Entry, now time.Time, secrets bool) entryRecord {
	show := func(kind string, args []byte) json.RawMessage {
		if secrets {
			return rawJSON(args)
		}
		return rawJSON(kinds.Redact(kind, args))
	}
	r := entryRecord{
		Name: entry.Name, Line: entry.Line, Rule: orNull(strings.TrimPrefix(entry.Rule.String(), "CRON_TZ="+entry.Rule.Zone+" ")), TZ: orNull(entry.Rule.Zone),
		Kind: entry.Kind, Args: show(entry.Kind, entry.Args), Queue: orNull(entry.Queue), MaxAttempts: orNull(entry.MaxAttempts),
		Timeout: durationOrNull(entry.Timeout), OnLoss: lossText(entry.OnLoss), Overlap: overlapWord(entry.Overlap),
		Group: orNull(entry.Group), Exclude: excludeTexts(entry.Schedule), Paused: entry.Paused, Hooks: map[string]json.RawMessage{}, Next: []time.Time{},
	}
	if entry.Rule.String() != "" {
		r.Description = orNull(describe(entry.Rule, now))
	}
	if command, err := kinds.DecodeCommand(entry.Args); entry.Kind == kinds.CommandKind && err == nil {
		r.Argv, r.User, r.Dir = argv(entry.Args, secrets), orNull(command.User), orNull(command.Dir)
	}
	entry.Hooks.Each(func(name string, hook *hourbell.Hook) { r.Hooks[name] = show(hook.Kind, hook.Args) })
	r.Next = append(r.Next, upcoming(entry, now)...)
	return r
}
