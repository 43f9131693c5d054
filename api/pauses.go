package api

import (
	"context"
	"net/http"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
)

// pausable is a sort of things that can be paused by name.
type pausable[Info, Record any] struct {
	collection, noun string
	effect           string // what a pause does, after a colon
	get              func(ctx context.Context, name string) (Info, error)
	pause            func(ctx context.Context, name string, pause hourbell.Pause) error
	resume           func(ctx context.Context, name string) (bool, error)
	clear            func(Info) Info // without its pause
	record           func(Info) Record
}

// recordOutput is the answer with the record of one thing.
type recordOutput[Record any] struct{ Body Record }

// SubjectPause is how long and why a group, a queue, a kind or a key is paused.
type SubjectPause struct {
	Until  string `json:"until,omitempty" minLength:"1" doc:"When the pause ends by itself, by the store's clock; default: when it is resumed." shape:"instant"`
	Reason string `json:"reason,omitempty" minLength:"1" maxLength:"1024" doc:"Why, in words."`
	Cancel bool   `json:"cancel,omitempty" doc:"Cancel the jobs that run; default: they go on."`
}

// addPausable adds the routes that return, pause and resume a thing.
func addPausable[Info, Record any](h *handler, p pausable[Info, Record]) {
	one := "/api/v1/" + p.collection + "/{name}"
	get := func(ctx context.Context, in *Named) (*recordOutput[Record], error) {
		info, err := p.get(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		return &recordOutput[Record]{p.record(info)}, nil
	}
	add(h, route{access.Viewer, http.MethodGet, one, "get-" + p.noun, "Returns a " + p.noun, p.collection, 0, 0}, get)
	add(h, route{access.Operator, http.MethodPost, one + "/pause", "pause-" + p.noun, "Pauses a " + p.noun + ": " + p.effect, p.collection, 0, 0},
		func(ctx context.Context, in *struct {
			Named
			Body *SubjectPause
		},
		) (*recordOutput[Record], error) {
			id, _ := access.FromContext(ctx)
			pause := hourbell.Pause{Actor: id.Name}
			if in.Body != nil {
				var err error
				if pause.Until, err = instant("until", in.Body.Until, ""); err != nil {
					return nil, err
				}
				pause.Reason, pause.CancelRunning = in.Body.Reason, in.Body.Cancel
			}
			if err := p.pause(ctx, in.Name, pause); err != nil {
				return nil, err
			}
			return get(ctx, &in.Named)
		})
	add(h, route{access.Operator, http.MethodPost, one + "/resume", "resume-" + p.noun, "Ends the pause of a " + p.noun, p.collection, 0, 0},
		func(ctx context.Context, in *Named) (*recordOutput[Record], error) {
			info, err := p.get(ctx, in.Name) // before the end of the pause, after which the name may be nowhere
			if err != nil {
				return nil, err
			}
			if _, err := p.resume(ctx, in.Name); err != nil {
				return nil, err
			}
			return &recordOutput[Record]{p.record(p.clear(info))}, nil
		})
}
