package event

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logged returns a logger at a level, and what it has written so far: level,
// message and count of each line.
func logged(level slog.Level) (*slog.Logger, func() string) {
	var mu sync.Mutex
	var out bytes.Buffer
	plain := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.LevelKey, slog.MessageKey, "count":
			return a
		}
		return slog.Attr{}
	}
	logger := slog.New(slog.NewTextHandler(writer(func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		out.Write(p)
	}), &slog.HandlerOptions{Level: level, ReplaceAttr: plain}))
	return logger, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.NewReplacer("level=", "", "msg=", "", `"`, "").Replace(out.String())
	}
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// A library logs no line for each job that completes unless DEBUG asks for it.
func TestCompletedJobsAreDebug(t *testing.T) {
	logger, lines := logged(slog.LevelInfo)
	log := Log(logger, 0)
	log(Event{Kind: NodeStarted})
	log(Event{Kind: JobCompleted})
	log(Event{Kind: JobFailed})
	if got, want := lines(), "INFO node started\nERROR job failed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A ration of lines is granted each second, what is beyond it is counted in a
// line at the end of that second, and failures are never counted away.
func TestCompletedJobsAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged(slog.LevelInfo)
		log := Log(logger, 2)
		complete := func(n int) {
			var all sync.WaitGroup
			for range n {
				all.Go(func() { log(Event{Kind: JobCompleted, Job: 1}) })
			}
			all.Wait()
		}
		complete(2)
		time.Sleep(time.Second)
		complete(1)
		time.Sleep(900 * time.Millisecond)
		complete(1)
		log(Event{Kind: JobFailed})
		complete(1233)
		time.Sleep(99 * time.Millisecond)
		complete(1)
		want := strings.Repeat("INFO job completed\n", 4) + "ERROR job failed\n"
		if got := lines(); got != want {
			t.Errorf("within the second second: got %q, want %q", got, want)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		want += "INFO more jobs completed count=1234\n"
		if got := lines(); got != want {
			t.Errorf("after the second second: got %q, want %q", got, want)
		}
		complete(3)
		log(Event{Kind: NodeStopped})
		want += strings.Repeat("INFO job completed\n", 2) + "INFO more jobs completed count=1\nINFO node stopped\n"
		if got := lines(); got != want {
			t.Errorf("at the end: got %q, want %q", got, want)
		}
		time.Sleep(3 * time.Second)
		if got := lines(); got != want {
			t.Errorf("after the end: got %q, want %q", got, want)
		}
	})
}

// Where DEBUG is asked for, every job has its line.
func TestEveryCompletedJobIsALineOfDebug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged(slog.LevelDebug)
		log := Log(logger, 1)
		for range 3 {
			log(Event{Kind: JobCompleted})
		}
		time.Sleep(2 * time.Second)
		if got, want := lines(), "INFO job completed\nDEBUG job completed\nDEBUG job completed\nINFO more jobs completed count=2\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A node that completes many jobs a second writes as many lines as its ration
// says, and a line a second of the rest: together they are all jobs.
func TestRationCountsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged(slog.LevelInfo)
		log := Log(logger, 50)
		const jobs = 10_000 // in five seconds
		for range jobs {
			log(Event{Kind: JobCompleted})
			time.Sleep(500 * time.Microsecond)
		}
		time.Sleep(2 * time.Second)
		total, more := 0, 0
		for line := range strings.Lines(lines()) {
			n := 1
			if _, err := fmt.Sscanf(line, "INFO more jobs completed count=%d", &n); err == nil {
				more++
			}
			total += n
		}
		if total != jobs || more != 5 {
			t.Errorf("%d jobs are told of, of %d, in %d sums", total, jobs, more)
		}
	})
}
