package main

import (
	"fmt"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
)

// viewSchedule prepares a schedule for output.
func viewSchedule(s hourbell.ScheduleInfo, secrets bool) hourbell.ScheduleInfo {
	if secrets {
		return s
	}
	s.Args = kinds.Redact(s.Kind, s.Args)
	s.Hooks = redactHooks(s.Hooks)
	return s
}

func redactHooks(h hourbell.Hooks) hourbell.Hooks {
	for _, hook := range []**hourbell.Hook{&h.OnFailure, &h.OnMissed, &h.OnRecovery} {
		if *hook != nil {
			*hook = &hourbell.Hook{Kind: (*hook).Kind, Args: kinds.Redact((*hook).Kind, (*hook).Args)}
		}
	}
	return h
}

// shownNext returns in words when a schedule rings next.
func shownNext(s hourbell.ScheduleInfo) string {
	if s.State() == "active" {
		return "next " + plain.InZone(s.NextAt, s.Rule.Zone)
	}
	return s.State()
}

var scheduleListing = listing[hourbell.ScheduleInfo]{
	columns: []string{"NAME", "RULE", "STATE", "NEXT", "FIRED", "RUNS", "OWNER"},
	row: func(s hourbell.ScheduleInfo) []string {
		return []string{s.Name, plain.Cut(s.Rule.String(), 50), s.State(), plain.Stamp(s.NextAt), fmt.Sprint(s.Fired), plain.Cut(whatRuns(s.Schedule), 50), plain.Dash(s.Owner)}
	},
	record: func(s hourbell.ScheduleInfo) any { return newScheduleRecord(s) },
}

// whatRuns returns the job of a schedule in a few words.
func whatRuns(s hourbell.Schedule) string {
	if s.Kind != kinds.CommandKind {
		return s.Kind
	}
	command, err := kinds.DecodeCommand(s.Args)
	switch {
	case err != nil:
		return s.Kind
	case command.Shell != "":
		return "sh: " + command.Shell
	}
	return fmt.Sprintf("%q", command.Argv)
}
