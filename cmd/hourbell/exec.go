package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/recur"
)

// execFlags are what exec was asked for.
type execFlags struct {
	store     lockFlags
	rule      recur.Spec
	every     time.Duration
	atMost    time.Duration
	atLeast   time.Duration
	wait      time.Duration
	grace     time.Duration
	quietSkip bool
}

func (p *program) execCommand() *cobra.Command {
	var f execFlags
	c := &cobra.Command{
		Use:   "exec NAME --store URL [--every D | --cron EXPR [--tz ZONE]] [flags] -- PROGRAM [ARG…]",
		Short: "Runs a command under a lock: once, on whichever server is first",
		Long: "Takes the lock NAME, runs the command, and releases the lock: put the same line into the crontab of every\n" +
			"server, and the command runs once. With --every or --cron it runs once per interval or instant, however\n" +
			"often and wherever it is called. The lock is kept while the command runs, and for a dead server it is free\n" +
			"after half a minute; if it cannot be kept, or --at-most has come, the command and all it has started is ended.\n\n" +
			"The command has this one's input and output, and in its environment HOURBELL_TOKEN, the fencing token, and\n" +
			"HOURBELL_SLOT. There is no default store: a file of each server's own would lock nobody out.\n\n" +
			"Exit codes: the command's own (128 and its number if a signal ended it); 3 if somebody else holds the lock\n" +
			"or nothing is due (0 with --quiet-skip), 2 when asked wrongly, 1 when the lock failed.",
		Example: "  hourbell exec nightly-report --store postgres://user@db/app --every 1h --at-most 10m -- /usr/local/bin/report\n" +
			"  hourbell exec cleanup --cron '30 2 * * *' --tz Europe/Prague --quiet-skip -- find /srv/tmp -mtime +7 -delete\n" +
			"  hourbell exec import --store redis://cache:6379 --wait 5m -- ./import.sh",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			words, argv := splitArgv(c, args)
			if err := takes(false, "NAME")(c, words); err != nil {
				return err
			}
			if len(argv) == 0 {
				return &hourbell.FieldError{Field: "PROGRAM", Problem: "is missing: nothing says what to run", Remedy: "write the program and its arguments after --"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			words, argv := splitArgv(c, args)
			return p.exec(c, f, words[0], argv)
		},
	}
	flags := c.Flags()
	flags.DurationVar(&f.every, "every", 0, "run once in each interval of this length")
	flags.StringVar(&f.rule.Cron, "cron", "", "run once for each instant of this cron rule")
	flags.StringVar(&f.rule.Zone, "tz", "", "the time zone of --cron (default UTC)")
	flags.DurationVar(&f.atMost, "at-most", time.Hour, "the longest the lock may be held; then the command is ended")
	flags.DurationVar(&f.atLeast, "at-least", 0, "the shortest the lock is held, also after a quicker command")
	flags.DurationVar(&f.wait, "wait", 0, "how long to wait for somebody else's lock (default not at all)")
	flags.DurationVar(&f.grace, "grace", 3*time.Second, "how long the command may take to end after SIGTERM")
	flags.BoolVar(&f.quietSkip, "quiet-skip", false, "say nothing and exit 0 where the lock is held or nothing is due")
	f.store.addTo(c)
	return c
}

// options checks the flags and says what they mean for the lock.
func (f execFlags) options(c *cobra.Command, name string) (lock.Options, error) {
	opts := lock.Options{AtMost: f.atMost, AtLeast: f.atLeast, Wait: f.wait, Every: f.every}
	errs := []error{lock.CheckName(name), notNegative("grace", f.grace)}
	for _, flag := range []string{"every", "at-most"} {
		if value := c.Flags().Lookup(flag); value.Changed && strings.HasPrefix(value.Value.String(), "0") && value.Value.String() == "0s" {
			errs = append(errs, &hourbell.FieldError{Field: flag, Value: "0s", Problem: "is no time", Remedy: "give a duration such as 10m, or leave it out"})
		}
	}
	if c.Flags().Changed("cron") {
		if err := f.rule.Validate(); err != nil {
			errs = append(errs, err)
		} else if rule, err := f.rule.Rule(time.Time{}); err != nil {
			errs = append(errs, err)
		} else {
			opts.Cron = rule
		}
	} else if c.Flags().Changed("tz") {
		errs = append(errs, &hourbell.FieldError{Field: "tz", Value: shorten(f.rule.Zone), Problem: "is given without --cron", Remedy: "leave it out, or give --cron"})
	}
	return opts, errors.Join(append(errs, opts.Validate())...)
}

func (p *program) exec(c *cobra.Command, f execFlags, name string, argv []string) error {
	opts, err := f.options(c, name)
	at, storeErr := p.locateLocks(f.store)
	if err := errors.Join(err, storeErr); err != nil {
		return err
	}
	path, err := findCommand(argv[0])
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc(slices.Clone(passedOn), signal.Ignored)...)
	defer signal.Stop(signals)
	ctx, start, cancel := untilStart(c.Context(), signals)
	defer cancel()
	locks, err := at.open(ctx)
	if err != nil {
		return interrupted(ctx, fmt.Errorf("open the store %s: %w", at, err))
	}
	defer locks.Close()
	locker, err := lock.New(locks, lock.Config{})
	if err != nil {
		return err
	}
	before := lastSlot(ctx, locks, name, f.every)
	ran := false
	var status error
	err = locker.Do(ctx, name, opts, func(ctx context.Context, held *lock.Lock) error {
		if err := start(); err != nil {
			return err
		}
		ran = true
		p.warnSeldom(f.every, before, held.Slot())
		status = p.runLocked(ctx, held, signals, guarded{path: path, argv: argv, env: lockEnvironment(held), grace: f.grace})
		return nil
	})
	switch {
	case !ran && ctx.Err() != nil:
		return interrupted(ctx, err)
	case errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue):
		return p.skipped(f, err)
	case err != nil && (!ran || status == nil && !keptThroughout(err)):
		return withTables(err)
	case err != nil:
		printError(p.stderr, err)
	}
	return status
}

// untilStart ends a context at a signal as long as there is no command that
// could get it: then nobody waits for the lock any more, and one that was just
// granted is released. Call start before the command: from then on signals are
// the command's, and the error says that one came before.
func untilStart(ctx context.Context, signals <-chan os.Signal) (_ context.Context, start func() error, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	starting, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			end(signalStatus(number))
		case <-starting:
		case <-ctx.Done():
		}
	}()
	start = func() error {
		close(starting)
		<-watched
		return context.Cause(ctx)
	}
	return ctx, start, func() { end(nil) }
}

// interrupted is the exit code of the signal that ended a context, or the error
// where none did.
func interrupted(ctx context.Context, err error) error {
	var status exitStatus
	if errors.As(context.Cause(ctx), &status) {
		return status
	}
	return err
}

// keptThroughout says whether nothing but the release failed, so that the
// command had its lock to its end, and its exit code counts.
func keptThroughout(err error) bool {
	return errors.Is(err, lock.ErrUnreleased) && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrAtMost)
}

// skipped tells why the command did not run.
func (p *program) skipped(f execFlags, err error) error {
	if f.quietSkip {
		return nil
	}
	p.warnOften(f.every, err)
	printError(p.stderr, err)
	return exitStatus(exitSkipped)
}

// lastSlot is the slot of a lock that was granted last; zero if there is none,
// the store cannot tell in time, or nobody asks for intervals.
func lastSlot(ctx context.Context, locks lock.Inspector, name string, every time.Duration) time.Time {
	if every == 0 {
		return time.Time{}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := locks.Locks(ctx, lock.LocksRequest{Names: []string{name}, Limit: 1})
	if err != nil || len(found) == 0 {
		return time.Time{}
	}
	return found[0].State.Mark.Slot
}

// warnSeldom tells that intervals have passed in which nobody called.
func (p *program) warnSeldom(every time.Duration, before, slot time.Time) {
	if every == 0 || before.IsZero() || slot.Sub(before) <= 2*every {
		return
	}
	fmt.Fprintf(p.stderr, "hourbell: warning: %d slots passed without a call since %s: this is called more seldom than --every %s says, or no server was up\n",
		slot.Sub(before)/every-1, stamp(before), brief(every))
}

// warnOften tells that this is called in the middle of an interval, where
// nobody calls who keeps to it.
func (p *program) warnOften(every time.Duration, err error) {
	var early *lock.NotDueError
	if every == 0 || !errors.As(err, &early) || early.State.Mark.Slot.IsZero() {
		return
	}
	into := early.State.Now.Sub(early.State.Mark.Slot)
	if into > every/4 && into < every-every/4 {
		fmt.Fprintf(p.stderr, "hourbell: warning: called %s after the slot of %s: that is more often than --every %s says\n",
			brief(into), stamp(early.State.Mark.Slot), brief(every))
	}
}

// lockEnvironment is what the command sees: ours without the store's URL,
// which may hold a password, and what it needs to refuse the past.
func lockEnvironment(held *lock.Lock) []string {
	slot := ""
	if !held.Slot().IsZero() {
		slot = held.Slot().UTC().Format(time.RFC3339Nano)
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, storeVariable+"=") })
	return append(env, "HOURBELL_TOKEN="+strconv.FormatInt(held.Token(), 10), "HOURBELL_SLOT="+slot)
}

// exitStatus is an exit code that says all there is to say.
type exitStatus int //nolint:errname // it is one only to be returned as one

func (s exitStatus) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// signalStatus is the exit code of who was ended by a signal, as shells have it.
func signalStatus(s syscall.Signal) exitStatus { return exitStatus(128 + int(s)) }
