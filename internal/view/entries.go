package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
)

// EntryRecord is a schedule, or a command that runs at the start of a node
// (rule null; once says when).
type EntryRecord struct {
	Name        string          `json:"name"`
	Line        int             `json:"line"`
	Rule        *string         `json:"rule"`
	Once        *string         `json:"once"` // boot: for each boot of a host; start: for each start of a node; null: a schedule
	TZ          *string         `json:"tz"`
	Description *string         `json:"description"`
	Kind        string          `json:"kind"`
	Argv        []string        `json:"argv"`
	User        *string         `json:"user"`
	Dir         *string         `json:"dir"`
	Args        json.RawMessage `json:"args"` // without values that may be secrets
	Queue       *string         `json:"queue"`
	MaxAttempts *int            `json:"max_attempts"`
	Timeout     *string         `json:"timeout"`
	Backoff     *string         `json:"backoff"`
	OnLoss      string          `json:"on_loss"`
	Overlap     string          `json:"overlap"`
	Group       *string         `json:"group"`
	Key         *string         `json:"key"`
	Exclude     []string        `json:"exclude"` // stored calendars by name; they were not read
	Paused      bool            `json:"paused"`
	Hooks       map[string]any  `json:"hooks"` // the arguments of a hook, or a list of several
	Next        []time.Time     `json:"next"`
}

// NewEntryRecord returns the record of an entry of a file, with its next instants
// after now. It hides values that may be secrets unless secrets is set.
func NewEntryRecord(entry declared.Entry, now time.Time, secrets bool) EntryRecord {
	show := func(job hourbell.Args) json.RawMessage {
		if !secrets {
			job = redactJob(job)
		}
		return rawJSON(declared.Raw(job).JSON)
	}
	job := declared.Raw(entry.Job)
	r := EntryRecord{
		Name: entry.Name, Line: entry.Line, Rule: orNull(strings.TrimPrefix(entry.When(), "CRON_TZ="+entry.Rule.Zone+" ")), TZ: orNull(entry.Rule.Zone),
		Kind: job.Name, Args: show(job), Queue: orNull(entry.Queue), MaxAttempts: orNull(entry.MaxAttempts),
		Timeout: timeoutOrNull(entry.Timeout), Backoff: orNull(entry.Backoff), OnLoss: lossText(entry.OnLoss), Overlap: overlapWord(entry.Schedule),
		Group: orNull(entry.Group), Key: orNull(entry.Key), Exclude: excludeTexts(entry.Schedule), Paused: entry.Paused,
		Hooks: jobsOfHooks(entry.Hooks, show), Next: []time.Time{},
	}
	if entry.Rule.String() == "" && !entry.Follows() {
		r.Once = orNull(map[bool]string{true: "boot", false: "start"}[entry.Boot])
	}
	if entry.Rule.String() != "" && !entry.Follows() {
		r.Description = orNull(describe(entry.Rule, now))
	}
	if command, err := kinds.DecodeCommand(job.JSON); job.Name == kinds.CommandKind && err == nil {
		r.Argv, r.User, r.Dir = argv(job.JSON, secrets), orNull(command.User), orNull(command.Dir)
	}
	r.Next = append(r.Next, Upcoming(entry, now)...)
	return r
}

// jobsOfHooks returns the jobs of hooks by the names of the hooks: the arguments of a job, or a list of the arguments of several jobs.
func jobsOfHooks(hooks hourbell.Hooks, show func(hourbell.Args) json.RawMessage) map[string]any {
	all := map[string]any{}
	for _, name := range hourbell.HookNames() {
		var shown []json.RawMessage
		for _, hook := range hooks.Field(name) {
			shown = append(shown, show(hook))
		}
		switch len(shown) {
		case 0:
		case 1:
			all[name] = shown[0]
		default:
			all[name] = shown
		}
	}
	return all
}

// EntryFacts returns the facts about an entry of a file, with its next instants
// after now. It hides values that may be secrets unless secrets is set.
func EntryFacts(entry declared.Entry, now time.Time, secrets bool) []Fact {
	facts := []Fact{{"line", fmt.Sprint(entry.Line)}, {"rule", entry.When()}}
	switch {
	case entry.Follows():
	case entry.Rule.String() == "" && entry.Boot:
		facts[1].Value = "@reboot: once for each boot of a host"
	case entry.Rule.String() == "":
		facts[1].Value = "@start: once for each start of a node"
	default:
		facts = append(facts, Fact{"means", describe(entry.Rule, now)})
	}
	facts = append(facts, workFacts(entry.Schedule, secrets)...)
	facts = append(facts, Fact{"limits", limits(entry.Schedule)})
	if len(entry.Exclude) > 0 {
		facts = append(facts, Fact{"except", excludedText(entry.Schedule)})
	}
	entry.Hooks.Each(func(name string, hook hourbell.Args) {
		facts = append(facts, Fact{name + " ", hookText(hook, secrets)})
	})
	if entry.Rule.String() == "" || entry.Follows() {
		return facts
	}
	next := Upcoming(entry, now)
	for i, t := range next {
		facts = append(facts, Fact{[]string{"next", "", ""}[i], plain.InZone(t, entry.Rule.Zone)})
	}
	if len(next) == 0 {
		facts = append(facts, Fact{"next", "never from now on"})
	}
	return facts
}
