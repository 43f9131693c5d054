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

// state is what a name remembers beyond its row.
type state struct {
	Name      string        `bson:"_id"`
	Token     int64         `bson:"token"`
	Slot      bson.DateTime `bson:"slot"`
	Anchor    bson.DateTime `bson:"anchor"`
	Interval  int64         `bson:"interval"` // ms
	GrantedAt bson.DateTime `bson:"grantedAt"`
	Now       bson.DateTime `bson:"now"`
}

// at is what requests are told of the state.
func (s state) at(now bson.DateTime) lock.State {
	return lock.State{
		Now: timeOf(now), Token: s.Token, GrantedAt: timeOf(s.GrantedAt),
		Mark: lock.Mark{Slot: timeOf(s.Slot), Anchor: timeOf(s.Anchor), Interval: time.Duration(s.Interval) * time.Millisecond},
	}
}

// readState reads the state of a name; one that is not there is empty.
func (p *Provider) readState(ctx context.Context, name string) (state, error) {
	var s state
	err := p.states.FindOne(ctx, bson.D{{Key: "_id", Value: name}}).Decode(&s)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return state{}, nil
	}
	return s, err
}

// nextState draws a token, and keeps the mark of a slot if the state is still
// the one that the slot rests on. It returns the state as it is then.
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
	case err == nil: // it is the name's first token
		return p.updateState(ctx, match, update)
	case mongo.IsDuplicateKeyError(err):
		if req.Slot != nil {
			return state{}, false, nil // the state is another than was seen
		}
		return p.updateState(ctx, match, update)
	default:
		return state{}, false, err
	}
}

// updateState changes the state that matches, and returns it as it is then.
func (p *Provider) updateState(ctx context.Context, match, update bson.D) (s state, found bool, err error) {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	err = p.states.FindOneAndUpdate(ctx, match, update, after).Decode(&s)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return state{}, false, nil
	}
	return s, err == nil, err
}
