package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// uniqueFlags are the flags that give a job a key.
type uniqueFlags struct {
	key  string
	args bool
	hold time.Duration
	till string
	on   string
	push time.Duration
}

func (f *uniqueFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&f.key, "unique", "", "a key: while a job of this kind with this key waits or runs, add nothing and print the number of that job")
	c.Flags().BoolVar(&f.args, "unique-args", false, "like --unique, with a key that is made from the arguments")
	c.Flags().DurationVar(&f.hold, "unique-for", 0, "keep the key taken for at least this long from now, also after the job has ended")
	c.Flags().StringVar(&f.till, "unique-until", "end", "how long a job has its key: until its end, or start: until it begins")
	c.Flags().StringVar(&f.on, "on-conflict", "keep", "what happens to the job that has the key: keep; replace (what it "+
		"does); reschedule (when it runs); or error: fail. While the job runs, replace and reschedule let the new job run after it")
	c.Flags().DurationVar(&f.push, "push-at-most", 0, "with --on-conflict reschedule: make the job due at most this long after it was added")
}

// choice returns the value of --on-conflict.
func (f *uniqueFlags) choice() (store.OnConflict, error) {
	choice, known := store.ParseOnConflict(f.on)
	if !known {
		return 0, &check.FieldError{Field: "on_conflict", Value: check.Shorten(f.on), Problem: "is unknown", Remedy: "use keep, replace, reschedule or error"}
	}
	return choice, nil
}

// given reports whether the job has a key.
func (f *uniqueFlags) given(c *cobra.Command) bool { return c.Flags().Changed("unique") || f.args }

func (f *uniqueFlags) options(c *cobra.Command) (options []hourbell.Option, err error) {
	if c.Flags().Changed("unique") {
		options = append(options, hourbell.Unique(f.key))
	}
	if f.args {
		options = append(options, hourbell.UniqueArgs())
	}
	if c.Flags().Changed("unique-for") {
		options = append(options, hourbell.UniqueFor(f.hold))
	}
	switch f.till {
	case "start":
		options = append(options, hourbell.UniqueUntilStart())
	case "end":
	default:
		return nil, &check.FieldError{Field: "unique-until", Value: check.Shorten(f.till), Problem: "is unknown", Remedy: "use end or start"}
	}
	if c.Flags().Changed("on-conflict") {
		choice, err := f.choice()
		if err != nil {
			return nil, err
		}
		options = append(options, hourbell.OnConflict(choice))
	}
	if c.Flags().Changed("push-at-most") {
		options = append(options, hourbell.PushAtMost(f.push))
	}
	return options, nil
}

// noteConflict prints, in addition to the number, why no job was added.
func (p *program) noteConflict(f uniqueFlags, job hourbell.Enqueued) {
	why := map[store.Conflict]string{
		store.ConflictKept:        "has this key and has not ended; nothing was added",
		store.ConflictReplaced:    "has this key and did not run; it was replaced",
		store.ConflictRescheduled: "has this key and had not begun; it was rescheduled",
		store.ConflictAgain:       "was added; it runs after the job that had this key and runs now",
		store.ConflictHeld:        "has ended and still holds this key; nothing was added",
	}
	text := why[job.Conflict]
	if job.Conflict == store.ConflictKept && f.on != store.OnConflictKeep.String() {
		text = "has this key, and has begun or is due then already; nothing changed"
	}
	fmt.Fprintf(p.stderr, "hourbell: job %d %s\n", job.ID, text)
}
