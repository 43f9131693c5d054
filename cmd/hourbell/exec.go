package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/lockrun"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/recur"
)

// execFlags are the flags of exec.
type execFlags struct {
	store     lockFlags
	rule      recur.Spec
	every     time.Duration
	atMost    time.Duration
	atLeast   time.Duration
	wait      time.Duration
	grace     time.Duration
	lease     time.Duration
	quietSkip bool
}

func (p *program) execCommand() *cobra.Command {
	var f execFlags
	c := &cobra.Command{
		Use:   "exec NAME --store URL [--every D | --cron EXPR [--tz ZONE]] [flags] -- PROGRAM [ARG…]",
		Short: "Runs a command under a lock: once, on whichever server is first",
		Long: "Takes the lock NAME, runs the command, and releases the lock: put the same line into the crontab of every\n" +
			"server, and the command runs once. With --every or --cron it runs once per interval or instant, however\n" +
			"often and wherever it is called. The lock is renewed while the command runs. If this server dies, the lock is\n" +
			"free after --lease; if the lock cannot be renewed, the command and all processes it started are ended in time.\n\n" +
			"The command gets less than --at-most, because the lock is free at that time: a margin (a tenth of --at-most, at\n" +
			"most 3s) and --grace are taken off. SIGTERM is sent when both are left, SIGKILL when the margin is left. With\n" +
			"--at-most 10m and --grace 3s the command gets SIGTERM after 9m54s and SIGKILL after 9m57s. An --at-most that\n" +
			"leaves the command less than 1s is refused. If the lock cannot be renewed, the command has at most a tenth of\n" +
			"--lease to end after SIGTERM, also with a longer --grace.\n\n" +
			"SIGTERM, SIGINT and SIGHUP are passed on to the command. If the command has not ended after --grace, it is\n" +
			"killed with all processes it started. SIGQUIT, SIGUSR1 and SIGUSR2 are passed on and have no other effect.\n\n" +
			"The command has the input and output of this program, and its environment without HOURBELL_STORE and\n" +
			"HOURBELL_NOTIFY_URL. These variables are added:\n" +
			"  HOURBELL_TOKEN  the fencing token: greater than every token granted before under this name\n" +
			"  HOURBELL_SLOT   with --every or --cron: the instant that the run is for, RFC 3339 in UTC; not set otherwise\n" +
			"  HOURBELL_RUN    a mark by which the processes of this run are found if they must be ended\n" +
			"The command runs in a session of its own and has no controlling terminal: a program cannot ask for a password\n" +
			"at /dev/tty, and Ctrl-C reaches the command as a SIGINT that is passed on. There is no default store, because a\n" +
			"file on each server would exclude no other server.\n\n" +
			"Exit codes: the command's own (128 and the number of the signal if a signal ended it); 3 if the lock is held\n" +
			"or nothing is due (0 with --quiet-skip); 2 for a usage error; 1 when the lock failed, or the command was\n" +
			"ended because of the lock and exited with 0.",
		Example: "  hourbell exec nightly-report --store postgres://user@db/app --every 1h --at-most 10m -- /usr/local/bin/report\n" +
			"  hourbell exec cleanup --cron '30 2 * * *' --tz Europe/Prague --quiet-skip -- find /srv/tmp -mtime +7 -delete\n" +
			"  hourbell exec import --store redis://cache:6379 --wait 5m -- ./import.sh",
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if err := takesBeforeArgv("NAME")(c, args); err != nil {
				return err
			}
			if _, argv := splitArgv(c, args); len(argv) == 0 {
				return &check.FieldError{Field: "PROGRAM", Problem: "is missing: there is no command to run", Remedy: "write the program and its arguments after --"}
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
	flags.DurationVar(&f.atMost, "at-most", time.Hour, "the longest time the lock may be held; the command is ended earlier, by --grace and a margin")
	flags.DurationVar(&f.atLeast, "at-least", 0, "the shortest time the lock is held, also after a quicker command")
	flags.DurationVar(&f.wait, "wait", 0, "how long to wait while another owner has the lock (default not at all)")
	flags.DurationVar(&f.grace, "grace", 3*time.Second, "how long the command may take to end after SIGTERM; then it is killed")
	flags.DurationVar(&f.lease, "lease", defaultExecLease, "how long the lock stays held after this server dies; renewed each third of it, 1s to 1h")
	flags.BoolVar(&f.quietSkip, "quiet-skip", false, "print nothing and exit 0 if the lock is held or nothing is due")
	f.store.addTo(c)
	return c
}

// options checks the flags and returns the options of the lock.
func (f execFlags) options(c *cobra.Command, name string) (lock.Options, error) {
	opts := lock.Options{AtMost: f.atMost, AtLeast: f.atLeast, Wait: f.wait, Every: f.every}
	errs := []error{check.Name("name", name), checkGrace(f.grace), f.checkLease(c)}
	for _, flag := range []string{"every", "at-most"} {
		if value := c.Flags().Lookup(flag); value.Changed && strings.HasPrefix(value.Value.String(), "0") && value.Value.String() == "0s" {
			errs = append(errs, &check.FieldError{Field: flag, Value: "0s", Problem: "is not a positive time", Remedy: "give a duration such as 10m, or leave it out"})
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
		errs = append(errs, &check.FieldError{
			Field: "tz", Value: check.Shorten(f.rule.Zone),
			Problem: "is given without --cron", Remedy: "leave it out, or give --cron",
		})
	}
	errs = append(errs, opts.Validate())
	if errors.Join(errs...) == nil {
		errs = append(errs, f.checkUseful())
	}
	return opts, errors.Join(errs...)
}

// Bounds of the flags.
const (
	defaultExecLease = 30 * time.Second
	leastExecLease   = time.Second // shorter leases are lost on any busy machine
	mostExecLease    = time.Hour
	mostGrace        = 24 * time.Hour
)

// checkUseful refuses an at-most time that would use up the slot for a command
// that is ended before it can do anything.
func (f execFlags) checkUseful() error {
	if f.atMost.Truncate(time.Millisecond) >= lockrun.LeastAtMost(f.grace) {
		return nil
	}
	return &check.FieldError{
		Field: "at-most", Value: f.atMost.String(),
		Problem: fmt.Sprintf("leaves the command less than %v, because --grace (%v) and a margin (%v) are taken off",
			lockrun.LeastUseful, f.grace, lock.Margin(f.atMost)),
		Remedy: fmt.Sprintf("use at least %v, or a shorter --grace", lockrun.LeastAtMost(f.grace)),
	}
}

func checkGrace(grace time.Duration) error {
	if grace > mostGrace {
		return &check.FieldError{Field: "grace", Value: grace.String(), Problem: "is too long", Remedy: fmt.Sprintf("use at most %v", mostGrace)}
	}
	return notNegative("grace", grace)
}

// checkLease refuses a lease out of range. A lease that was given must also not
// be longer than the lock is held in total.
func (f execFlags) checkLease(c *cobra.Command) error {
	switch {
	case f.lease < leastExecLease || f.lease > mostExecLease:
		return &check.FieldError{
			Field: "lease", Value: f.lease.String(), Problem: "is out of range",
			Remedy: fmt.Sprintf("use %v to %v", leastExecLease, mostExecLease),
		}
	case f.lease > f.atMost && c.Flags().Changed("lease"):
		return &check.FieldError{
			Field: "lease", Value: f.lease.String(),
			Problem: fmt.Sprintf("is longer than --at-most, %v", f.atMost), Remedy: "use a shorter one, or leave it out",
		}
	}
	return nil
}

func (p *program) exec(c *cobra.Command, f execFlags, name string, argv []string) error {
	opts, err := f.options(c, name)
	at, storeErr := p.locateLocks(f.store)
	if err := errors.Join(err, storeErr); err != nil {
		return err
	}
	path, err := lockrun.FindCommand(argv[0])
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc(lockrun.PassedOn(), signal.Ignored)...)
	defer signal.Stop(signals)
	ctx, start, cancel := lockrun.UntilStart(c.Context(), signals)
	defer cancel()
	locks, err := at.Open(ctx, !f.store.store.noMigrate)
	if err != nil {
		return lockrun.Interrupted(ctx, fmt.Errorf("open the store %s: %w", at, err))
	}
	defer locks.Close()
	locker, err := lock.New(locks, lock.Config{Lease: f.lease})
	if err != nil {
		return err
	}
	before := lockrun.LastSlot(ctx, locks, name, f.every)
	ran := false
	var status error
	err = locker.Do(ctx, name, opts, func(ctx context.Context, held *lock.Lock) error {
		if err := start(); err != nil {
			return err
		}
		ran = true
		p.note(lockrun.Seldom(f.every, before, held.Slot()))
		command := lockrun.Command{Path: path, Argv: argv, Env: lockrun.Environment(held, storeVariable, notifyVariable), Grace: f.grace}
		status = lockrun.Run(ctx, held, signals, command, p.note)
		return nil
	})
	if !ran && ctx.Err() != nil {
		return lockrun.Interrupted(ctx, err)
	}
	return p.execResult(f, ran, status, err)
}

// execResult returns the result of a command under a lock: status is the command's own, if it ran, and err the lock's.
func (p *program) execResult(f execFlags, ran bool, status, err error) error {
	switch {
	case errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue):
		return p.skipped(f, err)
	case err != nil && (!ran || status == nil && !lockrun.KeptThroughout(err)):
		return withTables(err)
	case err != nil:
		printError(p.stderr, err)
	}
	return status
}

// skipped reports why the command did not run.
func (p *program) skipped(f execFlags, err error) error {
	if f.quietSkip {
		return nil
	}
	p.note(lockrun.Often(f.every, err))
	printError(p.stderr, err)
	return lockrun.Status(exitSkipped)
}

// note prints a text that is not empty.
func (p *program) note(text string) {
	if text != "" {
		fmt.Fprintln(p.stderr, "hourbell: "+text)
	}
}
