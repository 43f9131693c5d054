package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// TryLock implements [lock.Provider].
func (p *Provider) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	what := fmt.Sprintf("take lock %q", req.Name)
	args := []any{clock(req.Now), req.Owner, req.Hold.Milliseconds()}
	reply, err := evaluate(ctx, p.client, takeScript, p.keys(req.Name), append(args, slotArgs(req.Slot)...)...)
	if err != nil {
		return nil, explain(what, err)
	}
	answer, r, err := readAnswer(reply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	switch answer {
	case "granted":
		return &lease{provider: p, req: req, record: r, rest: lock.NewRest(req)}, nil
	case "held":
		return nil, &lock.HeldError{Name: req.Name, Owner: r.owner(), Until: r.until(), Now: r.state.Now}
	default:
		return nil, &lock.NotDueError{Name: req.Name, State: r.state}
	}
}

// slotArgs returns the slot as arguments of the script.
func slotArgs(s *lock.Slot) []any {
	if s == nil {
		return []any{"", "", "", "", "", ""}
	}
	return []any{
		s.Seen, milliseconds(s.From), milliseconds(s.Until),
		instant(s.Mark.Slot), instant(s.Mark.Anchor), s.Mark.Interval.Milliseconds(),
	}
}

// instant returns an instant as the state stores it; the zero time is empty.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return milliseconds(t)
}

// lease is a granted lock: its request, and the server's answer.
type lease struct {
	provider *Provider
	req      lock.Request
	record   record
	rest     lock.Rest
}

// Token implements [lock.Lease].
func (l *lease) Token() int64 { return l.record.state.Token }

// Extend implements [lock.Lease].
func (l *lease) Extend(ctx context.Context, hold time.Duration) error {
	return l.change(ctx, "extend", extendScript, hold.Milliseconds())
}

// Release implements [lock.Lease].
func (l *lease) Release(ctx context.Context) error {
	return l.change(ctx, "release", releaseScript, milliseconds(l.record.state.Now.Add(l.req.AtLeast)), l.rest.Left().Milliseconds())
}

// change runs a script that changes the lock if the lease still owns it.
func (l *lease) change(ctx context.Context, verb string, s script, args ...any) error {
	what := fmt.Sprintf("%s lock %q", verb, l.req.Name)
	args = append([]any{clock(l.req.Now), l.record.value}, args...)
	done, err := evaluate(ctx, l.provider.client, s, l.provider.keys(l.req.Name), args...)
	switch {
	case err != nil:
		return explain(what, err)
	case done != int64(1):
		return fmt.Errorf("%s: %w", what, lock.ErrLost)
	default:
		return nil
	}
}
