package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/hourbell/hourbell/lock"
)

// state is the part of a name's data that outlives its row.
type state struct {
	Name      string        `bson:"_id"`
	Token     int64         `bson:"token"`
	Slot      bson.DateTime `bson:"slot"`
	Anchor    bson.DateTime `bson:"anchor"`
	Interval  int64         `bson:"interval"` // in ms
	GrantedAt bson.DateTime `bson:"grantedAt"`
	Now       bson.DateTime `bson:"now"`
}

// at returns the state in the form that requests get.
func (s state) at(now bson.DateTime) lock.State {
	return lock.State{
		Now: timeOf(now), Token: s.Token, GrantedAt: timeOf(s.GrantedAt),
		Mark: lock.Mark{Slot: timeOf(s.Slot), Anchor: timeOf(s.Anchor), Interval: time.Duration(s.Interval) * time.Millisecond},
	}
}

// readState reads the state of a name; a missing state is returned as an empty
// one.
func (p *Provider) readState(ctx context.Context, name string) (state, error) {
	var s state
	err := p.states.FindOne(ctx, bson.D{{Key: "_id", Value: name}}).Decode(&s)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return state{}, nil
	}
	return s, err
}

// nextState draws a token, and stores the mark of a slot if the state is
// unchanged since the slot was decided on. It returns the new state.
func (p *Provider) nextState(ctx context.Context, req lock.Request, now bson.DateTime) (s state, drawn bool, err error) {
	match := bson.D{{Key: "_id", Value: req.Name}}
	update := bson.D{{Key: "$inc", Value: bson.D{{Key: "token", Value: int64(1)}}}}
	if slot := req.Slot; slot != nil {
		match = append(match, bson.E{Key: "token", Value: slot.Seen})
		update = append(update, bson.E{Key: "$set", Value: bson.D{
			{Key: "slot", Value: dateOf(slot.Mark.Slot)},
			{Key: "anchor", Value: dateOf(slot.Mark.Anchor)},
			{Key: "interval", Value: slot.Mark.Interval.Milliseconds()},
			{Key: "grantedAt", Value: now},
		}})
	}
	s, drawn, err = p.updateState(ctx, match, update)
	if err != nil || drawn {
		return s, drawn, err
	}
	_, err = p.states.InsertOne(ctx, bson.D{{Key: "_id", Value: req.Name}, {Key: "token", Value: int64(0)}})
	switch {
	case err == nil: // this was the name's first token
		return p.updateState(ctx, match, update)
	case mongo.IsDuplicateKeyError(err):
		if req.Slot != nil {
			return state{}, false, nil // the state has changed since it was read
		}
		return p.updateState(ctx, match, update)
	default:
		return state{}, false, err
	}
}

// updateState changes the matching state, and returns the new state.
func (p *Provider) updateState(ctx context.Context, match, update bson.D) (s state, found bool, err error) {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	err = p.states.FindOneAndUpdate(ctx, match, update, after).Decode(&s)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return state{}, false, nil
	}
	return s, err == nil, err
}
