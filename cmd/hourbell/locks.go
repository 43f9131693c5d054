package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

func (p *program) locksCommand() *cobra.Command {
	f := &lockFlags{}
	c := p.group("locks", "Lists, shows and frees locks, and makes their tables",
		p.locksListCommand(f),
		p.locksShowCommand(f),
		p.locksReleaseCommand(f),
		p.locksCreateCommand(f),
	)
	f.addTo(c)
	return c
}

// withLocks opens the store of locks while do runs.
func (p *program) withLocks(ctx context.Context, f lockFlags, do func(locks stores.Locks) error) error {
	at, err := p.locateLocks(f)
	if err != nil {
		return err
	}
	locks, err := at.Open(ctx, !f.store.noMigrate)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", at, err)
	}
	defer locks.Close()
	return withTables(do(locks))
}

// withTables adds to an error about missing tables how to create them.
func withTables(err error) error {
	if errors.Is(err, store.ErrSchema) {
		return fmt.Errorf("%w; `hourbell locks create` with the same flags creates the missing tables", err)
	}
	return err
}

func (p *program) locksCreateCommand(f *lockFlags) *cobra.Command {
	return &cobra.Command{
		Use: "create", Short: "Creates the missing tables of locks", Args: takes(false),
		Long: "Creates the missing tables: with --table the table of that name, and a second table with _state appended, which\n" +
			"has the tokens and is not used by programs in Java. Without --table exec creates its tables by itself.",
		Example: "  hourbell locks create --store postgres://user@host/database --table shedlock",
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := p.locateLocks(*f)
			if err != nil {
				return err
			}
			locks, create, err := at.Connect(c.Context())
			if err != nil {
				return fmt.Errorf("open the store %s: %w", at, err)
			}
			defer locks.Close()
			if create == nil { // Redis and MongoDB create their collections when they are written
				return nil
			}
			return create(c.Context())
		},
	}
}

func (p *program) locksListCommand(f *lockFlags) *cobra.Command {
	var (
		l     listFlags
		limit int
	)
	c := &cobra.Command{
		Use: "list", Short: "Lists locks by name, held or not", Args: takes(false),
		Example: "  hourbell locks list --store postgres://user@host/database\n  hourbell locks list --table shedlock --output ndjson",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(checkLimit(limit), l.check()); err != nil {
				return err
			}
			return p.withLocks(c.Context(), *f, func(locks stores.Locks) error {
				return p.repeat(c, l, func(p *program) error {
					return printList(p, view.LockListing(), l.format, paged(p, c, l.format, limit, func(size int, last *lock.Info) ([]lock.Info, error) {
						req := lock.LocksRequest{Limit: size}
						if last != nil {
							req.After = last.Name
						}
						found, err := locks.Locks(c.Context(), req)
						if len(found) > 0 {
							p.setClock(found[0].State.Now)
						}
						return found, err
					}))
				})
			})
		},
	}
	addLimit(c, &limit)
	l.addTo(c)
	return c
}

func (p *program) locksShowCommand(f *lockFlags) *cobra.Command {
	var o format
	c := &cobra.Command{
		Use: "show NAME", Short: "Shows a lock: its holder and until when, its token, its last slot", Args: takes(false, "NAME"),
		Example: "  hourbell locks show nightly-report --output json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := check.StoredName("name", args[0]); err != nil {
				return err
			}
			return p.withLocks(c.Context(), *f, func(locks stores.Locks) error {
				found, err := locks.Locks(c.Context(), lock.LocksRequest{Names: args, Limit: 1})
				if err != nil {
					return err
				}
				if len(found) == 0 {
					return fmt.Errorf("lock %q: %w; `hourbell locks list` shows all locks", check.Shorten(args[0]), lock.ErrNotFound)
				}
				p.setClock(found[0].State.Now)
				return p.show(o, view.NewLockRecord(found[0]), func(out *bufio.Writer) { p.printFacts(out, view.LockFacts(found[0])) })
			})
		},
	}
	o.addTo(c)
	return c
}

func (p *program) locksReleaseCommand(f *lockFlags) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "release NAME --force", Short: "Frees a lock, whatever its holder", Args: takes(false, "NAME"),
		Long: "Frees a lock at once, without regard to its holder and to --at-least. Its holder finds out at its next\n" +
			"renewal, seconds later, and may work until then: stop the holder first.",
		Example: "  hourbell locks release nightly-report --force",
		RunE: func(c *cobra.Command, args []string) error {
			if err := check.StoredName("name", args[0]); err != nil {
				return err
			}
			if !force {
				return &check.FieldError{Field: "force", Problem: "is not given: the holder may still be working", Remedy: "make sure that it is not, then give --force"}
			}
			return p.withLocks(c.Context(), *f, func(locks stores.Locks) error {
				if err := p.recordRelease(c.Context(), f.store, args[0]); err != nil {
					return err
				}
				return locks.ForceRelease(c.Context(), lock.ForceReleaseRequest{Name: args[0]})
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "free it although an owner may hold it")
	return c
}
