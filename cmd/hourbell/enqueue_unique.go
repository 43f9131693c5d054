package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// uniqueFlags are the flags that give a job a key.
type uniqueFlags struct {
	key  string
	args bool
	hold time.Duration
}

func (f *uniqueFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&f.key, "unique", "", "a key: while a job of this kind with this key waits or runs, add nothing and print the number of that job")
	c.Flags().BoolVar(&f.args, "unique-args", false, "like --unique, with a key that is made from the arguments")
	c.Flags().DurationVar(&f.hold, "unique-for", 0, "keep the key taken for at least this long from now, also after the job has ended")
}

// given reports whether the job has a key.
func (f *uniqueFlags) given(c *cobra.Command) bool { return c.Flags().Changed("unique") || f.args }

func (f *uniqueFlags) options(c *cobra.Command) (options []hourbell.Option) {
	if c.Flags().Changed("unique") {
		options = append(options, hourbell.Unique(f.key))
	}
	if f.args {
		options = append(options, hourbell.UniqueArgs())
	}
	if c.Flags().Changed("unique-for") {
		options = append(options, hourbell.UniqueFor(f.hold))
	}
	return options
}

// noteConflict prints, in addition to the number, why no job was added.
func (p *program) noteConflict(job hourbell.Enqueued) {
	why := "has this key and has not ended"
	if job.Conflict == store.ConflictHeld {
		why = "has ended and still holds this key"
	}
	fmt.Fprintf(p.stderr, "hourbell: job %d %s; nothing was added\n", job.ID, why)
}
