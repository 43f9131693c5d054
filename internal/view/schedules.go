package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
)

// Schedule is a schedule as it is shown.
type Schedule struct {
	hourbell.ScheduleInfo                          // Args and Hooks are without values that may be secrets, unless NewSchedule was asked for them
	Health                *hourbell.ScheduleHealth // nil: not read (ReadHealth)
	Runs                  *Runs                    // nil: not read (ReadRuns)
}

// NewSchedule prepares a schedule for output. It hides values that may be secrets
// (see kinds.Redact) unless secrets is set.
func NewSchedule(s hourbell.ScheduleInfo, secrets bool) Schedule {
	if !secrets {
		s.Job = redactJob(s.Job)
		s.Hooks = redactHooks(s.Hooks)
	}
	return Schedule{ScheduleInfo: s}
}

func redactHooks(h hourbell.Hooks) hourbell.Hooks {
	for _, name := range hourbell.HookNames() {
		var jobs []hourbell.Args
		for _, job := range h.Field(name) {
			jobs = append(jobs, redactJob(job))
		}
		h.Set(name, jobs...)
	}
	return h
}

func redactJob(job hourbell.Args) hourbell.Args {
	raw := declared.Raw(job)
	raw.JSON = kinds.Redact(raw.Name, raw.JSON)
	return raw
}

// NextOfSchedule returns in words when a schedule rings next, or its state if it
// does not ring.
func NextOfSchedule(s hourbell.ScheduleInfo) string {
	switch {
	case s.State() != "active":
	case s.Follows():
		return followsInWords(s)
	default:
		return "next " + plain.InZone(s.NextAt, s.Rule.Zone)
	}
	return s.State()
}

// nextOf returns the next slot of a schedule that will fire; zero for a paused schedule, whose slots are skipped.
func nextOf(s Schedule) time.Time {
	if s.State() == "paused" {
		return time.Time{}
	}
	return s.NextAt
}

// followsInWords returns when a schedule starts that follows others, and for which of these it
// waits.
func followsInWords(s hourbell.ScheduleInfo) string {
	text := "starts " + s.When()
	for _, name := range s.WaitsFor {
		text += "; waiting for schedule " + name
	}
	return text
}

// ScheduleListing shows schedules.
func ScheduleListing() Listing[Schedule] {
	return Listing[Schedule]{
		Columns: []string{"NAME", "RULE", "STATE", "LAST 20", "NEXT", "FIRED", "RUNS", "OWNER"},
		Minor:   []string{"OWNER", "FIRED", "LAST 20"},
		Row: func(s Schedule) []string {
			strip := ""
			if s.Health != nil {
				strip = Strip(*s.Health)
			}
			return []string{s.Name, s.When(), stateOf(s), plain.Dash(strip), plain.Stamp(nextOf(s)), fmt.Sprint(s.Fired), whatRuns(s.Schedule), plain.Dash(s.Owner)}
		},
		Record: func(s Schedule) any { return NewScheduleRecord(s) },
	}
}

// whatRuns returns the job of a schedule in a few words.
func whatRuns(s hourbell.Schedule) string {
	job := declared.Raw(s.Job)
	if job.Name != kinds.CommandKind {
		return job.Name
	}
	command, err := kinds.DecodeCommand(job.JSON)
	switch {
	case err != nil:
		return job.Name
	case command.Shell != "":
		return "sh: " + command.Shell
	}
	return fmt.Sprintf("%q", command.Argv)
}
