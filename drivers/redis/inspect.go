package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/hourbell/hourbell/lock"
)

// Locks implements [lock.Inspector]. Unless the request names the locks, it
// scans all keys of the database (SCAN, which does not block other clients for
// long). On a cluster it scans every primary if the client is a go-redis
// client; with another Client it sees only the keys of the node that answers.
func (p *Provider) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	names, err := p.names(ctx, req.Names)
	if err != nil {
		return nil, explain("list locks", err)
	}
	var infos []lock.Info
	for _, name := range names {
		if len(infos) == req.Limit {
			break
		}
		if name <= req.After {
			continue
		}
		reply, err := evaluate(ctx, p.client, readScript, p.keys(name), clock(req.Now))
		if err != nil {
			return nil, explain("list locks", err)
		}
		r, err := readRecord(reply)
		if err != nil {
			return nil, fmt.Errorf("list locks: %w", err)
		}
		if r.value == "" && r.state.Token == 0 {
			continue // there is no lock of that name, or it is gone since the scan
		}
		infos = append(infos, lock.Info{Name: name, Owner: r.owner(), LockedAt: r.lockedAt(), Until: r.until(), State: r.state})
	}
	return infos, nil
}

// names returns the requested names, or the names of all locks, in byte order.
func (p *Provider) names(ctx context.Context, wanted []string) ([]string, error) {
	if len(wanted) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(wanted))), nil
	}
	found := map[string]bool{}
	var mu sync.Mutex
	scan := func(ctx context.Context, node Client) error {
		return scanKeys(ctx, node, p.pattern(), func(key string) {
			if name, ok := p.nameOf(key); ok {
				mu.Lock()
				defer mu.Unlock()
				found[name] = true
			}
		})
	}
	var err error
	if several, ok := p.client.(nodes); ok {
		err = several.eachNode(ctx, scan)
	} else {
		err = scan(ctx, p.client)
	}
	return slices.Sorted(maps.Keys(found)), err
}

// scanKeys calls visit with every matching key of a server, possibly more than
// once per key.
func scanKeys(ctx context.Context, node Client, pattern string, visit func(key string)) error {
	for cursor := "0"; ; {
		reply, err := evaluate(ctx, node, scanScript, nil, cursor, pattern)
		if err != nil {
			return err
		}
		page, ok := reply.([]any)
		if !ok || len(page) != 2 {
			return unexpected(reply)
		}
		keys, ok := page[1].([]any)
		if !ok {
			return unexpected(reply)
		}
		for _, key := range keys {
			visit(fmt.Sprint(key))
		}
		cursor = fmt.Sprint(page[0])
		if _, err := strconv.ParseUint(cursor, 10, 64); err != nil {
			return unexpected(reply)
		}
		if cursor == "0" {
			return nil
		}
	}
}

// ForceRelease implements [lock.Inspector].
func (p *Provider) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	what := fmt.Sprintf("release lock %q by force", req.Name)
	done, err := evaluate(ctx, p.client, forceScript, p.keys(req.Name), clock(req.Now))
	switch {
	case err != nil:
		return explain(what, err)
	case done != int64(1):
		return fmt.Errorf("%s: %w", what, lock.ErrNotFound)
	default:
		return nil
	}
}
