package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// awaited returns the names of the signals for which a job waits.
func awaited(steps []store.Step) (names []string) {
	for _, s := range steps {
		if s.Open && s.Sort == store.StepSignal {
			names = append(names, s.Name)
		}
	}
	return names
}

// taken returns the names of the steps that a job has taken, in order.
func taken(steps []store.Step) (names []string) {
	for _, s := range steps {
		if s.Place != 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// sendSignal sends a signal to a job.
func (p *pages) sendSignal(ctx context.Context, form url.Values) (done, next string, err error) {
	id, err := number("id", form.Get("id"))
	if err != nil {
		return "", "", err
	}
	value := json.RawMessage(cmp.Or(form.Get("value"), "null"))
	if err := check.Value("value", value); err != nil {
		return "", "", err
	}
	return "The job has its signal, and goes on.", jobLink(id), p.client.Signals.Send(ctx, id, form.Get("name"), value)
}
