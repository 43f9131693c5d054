// Package measure measures the speed of a store of jobs, in a new schema or file
// that it removes afterwards: how fast jobs are enqueued and worked, and how long
// it takes from enqueuing a job to its start.
//
//	place, err := measure.NewPlace(ctx, location, limit, note)
//	rows, err := measure.All(ctx, place, options, show)
//	err = place.Remove()
package measure

import (
	"context"
	"fmt"
	"time"
)

// Options bound a measurement.
type Options struct {
	Jobs int           // it ends after this many jobs, at least 1,
	Span time.Duration // or after this time
}

// Steps is how many measurements All makes.
func Steps() int { return len(cells()) }

// All makes all measurements in a place. It calls show from several goroutines,
// one call after the other, with the title of the measurement and the progress:
// from 0 to Steps.
func All(ctx context.Context, place *Place, o Options, show func(title string, step float64)) ([]Row, error) {
	r := &run{backend: place.backend, jobs: o.Jobs, span: o.Span}
	var rows []Row
	for i, cell := range cells() {
		r.progress = func(done float64) { show(cell.title, float64(i)+done) }
		r.progress(0)
		result, err := cell.measure(r, ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", cell.title, err)
		}
		result.cell = cell
		rows = append(rows, Row{result, place.store, place.settings})
	}
	return rows, nil
}
