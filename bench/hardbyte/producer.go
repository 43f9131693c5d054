package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
)

// producer inserts jobs until its context ends, as settings.mode and settings.pacing say.
type producer struct {
	client  *hourbell.Client
	set     settings
	samples *samples
	tokens  io.Reader // of the harness
	seq     int64
}

func (p *producer) run(ctx context.Context) {
	switch {
	case p.set.mode == depthTarget:
		p.fill(ctx)
	case p.set.pacing == byHarness:
		p.follow(ctx)
	default:
		p.keepRate(ctx)
	}
}

// keepRate inserts as many jobs as the rate allows for the time that has really passed, so that a slow insert
// does not lower the rate.
func (p *producer) keepRate(ctx context.Context) {
	last, credit := time.Now(), 0.0
	for sleep(ctx, p.set.batchEvery) {
		rate, now := p.set.currentRate(), time.Now()
		p.samples.targetRate.Store(int64(rate))
		credit += rate * now.Sub(last).Seconds()
		last = now
		for credit >= 1 && ctx.Err() == nil {
			n := min(int(credit), p.set.batchMax)
			p.insert(ctx, n)
			credit -= float64(n)
		}
	}
}

// follow inserts what the harness asks for: the harness meters the rate, and writes a line "ENQUEUE n" for each
// insert.
func (p *producer) follow(ctx context.Context) {
	asked := make(chan int)
	go func() { // until the harness closes the pipe, or the process ends
		defer close(asked)
		for lines := bufio.NewScanner(p.tokens); lines.Scan(); {
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "ENQUEUE %d", &n); err != nil || n < 1 {
				log.Printf("hardbyte: the line %q of the harness is not ENQUEUE and a number", lines.Text())
				continue
			}
			select {
			case asked <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case n, open := <-asked:
			if !open {
				return
			}
			p.samples.targetRate.Store(int64(p.set.currentRate()))
			p.insert(ctx, min(n, p.set.batchMax))
		case <-ctx.Done():
			return
		}
	}
}

// fill keeps targetDepth jobs ready.
func (p *producer) fill(ctx context.Context) {
	for ctx.Err() == nil {
		if missing := int64(p.set.targetDepth) - p.samples.depth(); missing > 0 {
			p.insert(ctx, int(min(missing, int64(p.set.batchMax))))
		} else {
			sleep(ctx, p.set.batchEvery)
		}
	}
}

// insert inserts n jobs by one call. Jobs of a failed call are not tried again.
func (p *producer) insert(ctx context.Context, n int) {
	const rest = 48 // bytes of the arguments without padding, about
	padding, sent := strings.Repeat("x", max(0, p.set.payload-rest)), time.Now().UnixMicro()
	requests := make([]hourbell.Request, n)
	for i := range requests {
		p.seq++
		requests[i].Args = Job{Seq: p.seq, Sent: sent, Padding: padding}
	}
	if _, err := p.client.EnqueueMany(ctx, requests); err != nil {
		if ctx.Err() == nil {
			log.Printf("hardbyte: enqueue %d jobs: %v", n, err)
			sleep(ctx, 100*time.Millisecond)
		}
		return
	}
	p.samples.enqueued.Add(int64(n))
}
