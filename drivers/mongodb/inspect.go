package mongodb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/hourbell/hourbell/lock"
)

// Locks implements [lock.Inspector].
func (p *Provider) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	rows, err := page[row](ctx, p.rows, req)
	if err != nil {
		return nil, explain("list locks", err)
	}
	states, err := page[state](ctx, p.states, req)
	if err != nil {
		return nil, explain("list locks", err)
	}
	return join(rows, states, req.Limit), nil
}

// page reads the first documents of a collection that match a request.
func page[T any](ctx context.Context, documents *mongo.Collection, req lock.LocksRequest) ([]T, error) {
	id := bson.D{{Key: "$gt", Value: req.After}}
	if len(req.Names) > 0 {
		id = append(id, bson.E{Key: "$in", Value: req.Names})
	}
	cursor, err := documents.Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: id}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$limit", Value: int64(req.Limit)}},
		withClock(req.Now),
	})
	if err != nil {
		return nil, err
	}
	var found []T
	err = cursor.All(ctx, &found)
	return found, err
}

// join merges the rows and the states by name; a name may lack either.
func join(rows []row, states []state, limit int) []lock.Info {
	infos := map[string]lock.Info{}
	for _, s := range states {
		infos[s.Name] = lock.Info{Name: s.Name, State: s.at(s.Now)}
	}
	for _, r := range rows {
		i := infos[r.Name]
		i.Name, i.Owner, i.LockedAt, i.Until = r.Name, r.Owner, timeOf(r.LockedAt), timeOf(r.Until)
		i.State.Now = timeOf(r.Now)
		infos[r.Name] = i
	}
	byName := slices.SortedFunc(maps.Values(infos), func(a, b lock.Info) int { return cmp.Compare(a.Name, b.Name) })
	return byName[:min(len(byName), limit)]
}

// ForceRelease implements [lock.Inspector].
func (p *Provider) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	what := fmt.Sprintf("release lock %q by force", req.Name)
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	found, err := p.Locks(ctx, lock.LocksRequest{Names: []string{req.Name}, Limit: 1, Now: req.Now})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case len(found) == 0:
		return fmt.Errorf("%s: %w", what, lock.ErrNotFound)
	}
	if err := p.force(ctx, req.Name, dateOf(found[0].State.Now)); err != nil {
		return explain(what, err)
	}
	return nil
}

// force ends a hold, and removes a mark that lies in the future.
func (p *Provider) force(ctx context.Context, name string, now bson.DateTime) error {
	if _, err := p.changeRow(ctx, bson.D{{Key: "_id", Value: name}}, bson.E{Key: "$min", Value: lockUntil(now)}); err != nil {
		return err
	}
	ahead := bson.D{{Key: "_id", Value: name}, {Key: "grantedAt", Value: bson.D{{Key: "$gt", Value: now}}}}
	mark := bson.D{{Key: "slot", Value: ""}, {Key: "anchor", Value: ""}, {Key: "interval", Value: ""}, {Key: "grantedAt", Value: ""}}
	_, err := p.states.UpdateOne(ctx, ahead, bson.D{{Key: "$unset", Value: mark}})
	return err
}
