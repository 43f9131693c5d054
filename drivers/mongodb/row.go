package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/hourbell/hourbell/lock"
)

// row is a document of ShedLock's, and the clock when it was read.
type row struct {
	Name     string        `bson:"_id"`
	Until    bson.DateTime `bson:"lockUntil"`
	LockedAt bson.DateTime `bson:"lockedAt"`
	Owner    string        `bson:"lockedBy"`
	Now      bson.DateTime `bson:"now"`
}

func (r row) heldError() error {
	return &lock.HeldError{Name: r.Name, Owner: r.Owner, Until: timeOf(r.Until), Now: timeOf(r.Now)}
}

// dateOf returns a time as documents store it: milliseconds since 1970; 0 for
// the zero time.
func dateOf(t time.Time) bson.DateTime {
	if t.IsZero() {
		return 0
	}
	return bson.NewDateTimeFromTime(t)
}

// timeOf returns a date as a time in UTC; the zero time for 0.
func timeOf(d bson.DateTime) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return d.Time().UTC()
}

// plus returns a date plus a duration, in whole milliseconds.
func plus(d bson.DateTime, by time.Duration) bson.DateTime {
	return d + bson.DateTime(by.Milliseconds())
}

// clock returns the server's clock as an expression, or the clock of a test.
func clock(now func() time.Time) any {
	if now == nil {
		return "$$NOW"
	}
	return dateOf(now())
}

// withClock returns the stage of an aggregation that adds the clock.
func withClock(now func() time.Time) bson.D {
	return bson.D{{Key: "$addFields", Value: bson.D{{Key: "now", Value: clock(now)}}}}
}

// readRow reads a row and the server's clock.
func (p *Provider) readRow(ctx context.Context, name string, now func() time.Time) (r row, found bool, err error) {
	match := bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: name}}}}
	cursor, err := p.rows.Aggregate(ctx, bson.A{match, withClock(now)})
	if err != nil {
		return row{}, false, err
	}
	var rows []row
	if err := cursor.All(ctx, &rows); err != nil || len(rows) == 0 {
		return row{Name: name}, false, err
	}
	return rows[0], true, nil
}

// ensureRow reads the row of a request, and writes a free row if there is none.
func (p *Provider) ensureRow(ctx context.Context, req lock.Request) (row, error) {
	r, found, err := p.readRow(ctx, req.Name, req.Now)
	if err != nil || found {
		return r, err
	}
	never := bson.DateTime(0)
	_, err = p.rows.InsertOne(ctx, bson.D{
		{Key: "_id", Value: req.Name}, {Key: "lockUntil", Value: never}, {Key: "lockedAt", Value: never}, {Key: "lockedBy", Value: ""},
	})
	if err != nil && !mongo.IsDuplicateKeyError(err) {
		return row{}, err
	}
	r, found, err = p.readRow(ctx, req.Name, req.Now)
	if err == nil && !found {
		err = errors.New("the row was deleted while it was being written")
	}
	return r, err
}

// takeRow takes the row if it is free.
func (p *Provider) takeRow(ctx context.Context, req lock.Request, now bson.DateTime) (taken bool, err error) {
	free := bson.D{{Key: "_id", Value: req.Name}, when("$lte", "$lockUntil", clock(req.Now))}
	return p.changeRow(ctx, free, bson.E{Key: "$set", Value: bson.D{
		{Key: "lockUntil", Value: plus(now, req.Hold)}, {Key: "lockedAt", Value: now}, {Key: "lockedBy", Value: req.Owner},
	}})
}

// confirmRow reports whether the lease still owns the row. It is a write that
// changes nothing, so that a majority confirms it.
func (l *lease) confirmRow(ctx context.Context) (own bool, err error) {
	same := bson.D{{Key: "lockedBy", Value: l.req.Owner}}
	return l.provider.changeRow(ctx, l.own(), bson.E{Key: "$set", Value: same})
}

// freeRow ends the hold of a lease right after the grant.
func (l *lease) freeRow(ctx context.Context) (own bool, err error) {
	return l.provider.changeRow(ctx, l.own(), bson.E{Key: "$set", Value: lockUntil(l.lockedAt)})
}

// own matches the row while the lease owns it and has not expired.
func (l *lease) own() bson.D {
	return bson.D{{Key: "_id", Value: l.req.Name}, {Key: "lockedBy", Value: l.req.Owner}, when("$gt", "$lockUntil", clock(l.req.Now))}
}

// when returns a condition that compares a field with the clock.
func when(operator, field string, clock any) bson.E {
	return bson.E{Key: "$expr", Value: bson.D{{Key: operator, Value: bson.A{field, clock}}}}
}

// lockUntil returns the field lockUntil with a value.
func lockUntil(d bson.DateTime) bson.D { return bson.D{{Key: "lockUntil", Value: d}} }

// changeRow changes the matching row, and reports whether there was one.
func (p *Provider) changeRow(ctx context.Context, match bson.D, update bson.E) (bool, error) {
	res, err := p.rows.UpdateOne(ctx, match, bson.D{update})
	if err != nil {
		return false, err
	}
	return res.MatchedCount == 1, nil
}
