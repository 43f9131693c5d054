package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
)

// pauser pauses and resumes things by name.
type pauser interface {
	Pause(ctx context.Context, name string, pause hourbell.Pause) error
	Resume(ctx context.Context, name string) (bool, error)
}

// pausable is a sort of things that commands pause and resume: groups, queues, kinds or keys.
type pausable struct {
	noun    string
	effect  string // of a pause, in short
	long    string // the effect on jobs, which the help of the command begins with
	example string // a name
	service func(client *hourbell.Client) pauser
	find    func(ctx context.Context, client *hourbell.Client, name string) error // ErrNotFound: nothing has the name
}

// second returns the error of a call whose result is not needed.
func second(_ any, err error) error { return err }

func (p *program) pauseCommand(f *storeFlags, s pausable) *cobra.Command {
	var until, reason string
	var cancel bool
	c := &cobra.Command{
		Use: "pause NAME [flags]", Short: fmt.Sprintf("Pauses a %s: %s", s.noun, s.effect), Args: takes(false, "NAME"),
		Long: fmt.Sprintf("Pauses a %[1]s: %[2]s\nJobs that run go on, unless --cancel is given. A %[1]s that is paused "+
			"already gets the new end and reason.", s.noun, s.long),
		Example: fmt.Sprintf("  hourbell %[1]ss pause %[2]s --reason 'the ledger is being repaired'\n  hourbell %[1]ss pause "+
			"%[2]s --until 2027-03-01T09:00:00Z --cancel",
			s.noun, s.example),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			end, err := instantFlag(c, "until", "")
			if err := errors.Join(check.Name("NAME", names[0]), err); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				if err := s.service(client).Pause(c.Context(), names[0], hourbell.Pause{Until: end, Reason: reason, Actor: actor(), CancelRunning: cancel}); err != nil {
					return err
				}
				done := "paused"
				if !end.IsZero() {
					done += " until " + plain.Stamp(end)
				}
				if cancel {
					done += "; its running jobs are cancelled"
				}
				fmt.Fprintf(p.stdout, "%s %q: %s\n", s.noun, names[0], done)
				return nil
			})
		},
	}
	c.Flags().StringVar(&until, "until", "", "resume by itself at this instant of the store's clock, such as 2027-03-01T09:00:00Z")
	c.Flags().StringVar(&reason, "reason", "", "why, for people")
	c.Flags().BoolVar(&cancel, "cancel", false, "cancel the jobs that run")
	return c
}

func (p *program) resumeCommand(f *storeFlags, s pausable) *cobra.Command {
	return &cobra.Command{
		Use: "resume NAME", Short: fmt.Sprintf("Ends the pause of a %s: its jobs may run at once", s.noun), Args: takes(false, "NAME"),
		Example:               fmt.Sprintf("  hourbell %ss resume %s", s.noun, s.example),
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if err := checkNames(names); err != nil {
				return err
			}
			return p.withClient(c.Context(), *f, func(client *hourbell.Client) error {
				done := "resumed"
				resumed, err := s.service(client).Resume(c.Context(), names[0])
				if err == nil && !resumed {
					done = "was not paused"
					err = s.find(c.Context(), client, names[0])
					if errors.Is(err, hourbell.ErrNotFound) { // the name is misspelt, or the pause has ended
						err = fmt.Errorf("%s %q is not paused: %w", s.noun, names[0], hourbell.ErrNotFound)
					}
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(p.stdout, "%s %q: %s\n", s.noun, names[0], done)
				return nil
			})
		},
	}
}

// actor returns who runs the program, as user@host.
func actor() string {
	name := "?"
	if me, err := user.Current(); err == nil {
		name = me.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return plain.Cut(name+"@"+host, 100)
}

// notePaused prints, in addition to its number, that a new job waits because of a pause. A failure to
// find that is ignored, because the job was made.
func (p *program) notePaused(ctx context.Context, client *hourbell.Client, id int64) {
	job, err := client.Jobs.Get(ctx, id)
	if err != nil {
		return
	}
	pauses, err := client.Jobs.Pauses(ctx, job)
	if err != nil {
		return
	}
	for _, pause := range pauses {
		fmt.Fprintf(p.stderr, "hourbell: job %d waits: its %v %q is paused; `%vs resume` lets it run\n", id, pause.Subject, pause.Name, pause.Subject)
	}
}
