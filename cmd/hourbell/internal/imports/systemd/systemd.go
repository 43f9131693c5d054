// Package systemd reads a timer unit and the service unit that it starts.
package systemd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/inifile"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// Is reports whether a file is a timer by its name.
func Is(path string, _ []byte) bool { return filepath.Ext(path) == ".timer" }

// Read reads a timer, and the service beside it.
func Read(src draft.Source) (*declared.File, error) {
	d := draft.New(src, "systemd")
	t := parse(d, src.Path, src.Text)
	t.ignore("Unit", "Description", "Documentation")
	t.ignoreSection("Install")
	name := strings.TrimSuffix(filepath.Base(src.Path), ".timer")
	service := name + ".service"
	if unit := t.last("Timer", "Unit"); unit.Value != "" {
		service = unit.Value
	}
	s := draft.Command()
	s.Name, s.Overlap = name, hourbell.OverlapSkip // an active service is not started again
	events := t.calendar()
	if isTrue(t.last("Timer", "Persistent").Value) {
		s.Misfire = hourbell.MisfireOnce
	}
	if delay := t.last("Timer", "RandomizedDelaySec"); delay.Value != "" {
		s.Jitter = t.span(delay)
	}
	t.leave("Timer", "AccuracySec", "a slot fires at its instant")
	t.unread()
	readService(d, filepath.Join(filepath.Dir(src.Path), service), &s)
	for i, event := range events {
		one := s
		if one.Rule = recur.OnCalendar(event.Value); i > 0 {
			one.Name = fmt.Sprintf("%s %d", name, i+1)
		}
		d.Add(event.Line, one)
	}
	if len(events) > 1 {
		d.Warn(events[1].Line, "OnCalendar", "is given several times: each becomes a schedule of its own, and they do not "+
			"know of each other's jobs", "write one event, with lists, if jobs must not overlap")
	}
	return d.Set()
}

// calendar returns the calendar events. A timer that counts from a start has no equal, because each machine counts for itself.
func (u *unit) calendar() []inifile.Setting {
	for _, key := range []string{"OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec", "OnClockChange", "OnTimezoneChange"} {
		for _, one := range u.take("Timer", key) {
			u.draft.Refuse(one.Line, key, fmt.Sprintf("%q counts from an event of one machine", declared.Label(one.Value, 60)),
				"write OnCalendar=, such as *:00/15, or a schedule with every:, which counts from a fixed instant")
		}
	}
	events := u.take("Timer", "OnCalendar")
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Value == "" { // removes the values before it
			events = events[i+1:]
			break
		}
	}
	if len(events) == 0 && u.draft.Mistakes().Err() == nil {
		u.draft.Refuse(0, "OnCalendar", "is missing", "name a timer with a calendar event")
	}
	return events
}
