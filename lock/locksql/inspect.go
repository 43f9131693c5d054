package locksql

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/lock"
)

// Locks implements lock.Inspector.
func (p *Provider) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	var infos []lock.Info
	err := p.call(ctx, OtherUse, "list locks", func(s session) error {
		infos = nil
		v := values{pAfter: req.After, pLimit: req.Limit, pNow: s.clock(req.Now)}
		if len(req.Names) > 0 {
			v[pNames] = s.dialect.Array(req.Names)
		}
		return s.query(listSQL, &v, func(r Row) error {
			found := record{dialect: s.dialect}
			err := found.scan(r)
			infos = append(infos, found.info())
			return err
		})
	})
	return infos, err
}

// ForceRelease implements lock.Inspector.
func (p *Provider) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	return p.call(ctx, OtherUse, fmt.Sprintf("release lock %q by force", req.Name), func(s session) error {
		found, err := s.look(req.Name, req.Now)
		if err != nil {
			return err
		}
		if found.name.String != req.Name && !found.token.Valid {
			return lock.ErrNotFound
		}
		_, err = s.exec(freeSQL, &values{pName: req.Name, pNow: s.clock(req.Now)})
		return err
	})
}

// Check does the work of lock.Checker in a transaction of the caller.
func (p *Provider) Check(ctx context.Context, tx Querier, name string, token int64) error {
	return p.check(ctx, tx, name, token, false)
}

// CheckInCluster is Check on a server of a cluster whose servers share no locks
// of rows: it also writes the row of the lock, so that the commit of the
// transaction fails if another server has granted the lock. The dialect needs
// touch.sql and touch_shared.sql.
func (p *Provider) CheckInCluster(ctx context.Context, tx Querier, name string, token int64) error {
	return p.check(ctx, tx, name, token, true)
}

func (p *Provider) check(ctx context.Context, tx Querier, name string, token int64, cluster bool) error {
	what := fmt.Sprintf("check lock %q", name)
	if p.invalid != nil {
		return fmt.Errorf("%s: %w", what, p.invalid)
	}
	stands := false
	var err error
	for _, file := range p.checkStatements(cluster) {
		commands, wrong := p.dialect.command(file, p.schema, p.table, &values{pName: name, pToken: token})
		if wrong != nil {
			return fmt.Errorf("%s: %w", what, wrong)
		}
		err = tx.Query(ctx, commands[0], func(Row) error {
			stands = true
			return nil
		})
		if err != nil {
			break
		}
	}
	switch {
	case err == nil && !stands:
		err = lock.ErrLost
	case p.dialect.Class(err) == Changed:
		return fmt.Errorf("%s: %w; for tables of another name use Tx of the Locks: %w", what, p.missing(true), err)
	}
	return p.explain(ctx, what, "waited for a grant of the lock; look for a transaction that was left open and holds a row of the lock tables", err)
}

// checkStatements returns the statements of check.
func (p *Provider) checkStatements(cluster bool) []statement {
	switch {
	case p.shared && cluster:
		return []statement{touchSharedSQL, checkSharedSQL}
	case p.shared:
		return []statement{checkSharedSQL}
	case cluster:
		return []statement{touchSQL, checkSQL}
	}
	return []statement{checkSQL}
}
