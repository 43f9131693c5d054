package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
)

// TestTop shows the screen of an empty store, of a node with work, once and until q is pressed.
func TestTop(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	empty := b.ok("top", "--once")
	equal(t, "an empty store", empty, "sqlite:"+b.path+"\nNothing needs attention.\n0 nodes alive, 0 running, 0 ready, 0 scheduled, 0 waiting, 0 jobs/s\n\n"+
		"Nodes: none\n\nQueues: none\n\nRunning now: none\n\nFailed in the last day: none\n\nMissed slots of the last day: none\n")
	b.fails(exitUsage, []string{"once", "--watch"}, "top", "--once", "--watch")

	workers := hourbell.NewWorkers()
	hold := make(chan struct{})
	workers.Handle("copy", func(_ context.Context, job *hourbell.JobRow) error {
		job.Progress(1, 4, "a.txt")
		<-hold
		return nil
	})
	workers.Handle("pay", func(context.Context, *hourbell.JobRow) error { return hourbell.Fail(errors.New("no \x1b[31mmoney")) })
	_, stop := b.node(hourbell.Config{Name: "north", Workers: workers, Queues: map[string]int{"default": 2}, Logger: slog.New(slog.DiscardHandler)})
	defer stop()
	defer close(hold)
	b.ok("enqueue", "copy")
	b.ok("enqueue", "pay")
	b.ok("enqueue", "copy", "--in", "1h", "--queue", "later")
	var shown string
	eventually(t, "the failed job and the progress", func() bool {
		shown = b.ok("top", "--once")
		return strings.Contains(shown, "1 of 4") && strings.Contains(shown, "1 job failed") && strings.Contains(shown, " 1 running")
	})
	for _, text := range []string{
		`1 job failed in the last hour; the newest is job 2 of kind pay: no \x1b[31mmoney (` + "`hourbell jobs show 2`)\n1 node alive, 1 running, 0 ready, 1 scheduled, 0 waiting, ",
		"\nNodes\nNAME  STATE  RUNNING  SEEN ", "\nnorth  alive  1 ", "\nlater  0  1  0  0  -  -  -\n",
		"\nRunning now\nID  KIND  QUEUE  NODE  SINCE  TOKEN  ATTEMPT  SCHEDULE  PROGRESS\n1  copy  default  north  TIME 1  1/25  -  1 of 4 (25 %), a.txt\n",
		"\nFailed in the last day\nID  KIND  QUEUE  FINISHED AT  ATTEMPT  SCHEDULE  REASON\n2  pay  default  TIME 1/25  -  no \\x1b[31mmoney\n",
	} {
		if !strings.Contains(steady(shown), text) {
			t.Errorf("the screen lacks %q:\n%s", text, steady(shown))
		}
	}

	equal(t, "the running jobs", steady(b.ok("jobs", "list", "--state", "running")),
		"ID  KIND  QUEUE  NODE  SINCE  TOKEN  ATTEMPT  SCHEDULE  PROGRESS\n1  copy  default  north  TIME 1  1/25  -  1 of 4 (25 %), a.txt\n")

	for i := range 4 {
		b.ok("enqueue", "copy", "--in", "1h", "--queue", fmt.Sprint("queue-", i))
	}
	term := newTerminal(b, 24, 100)
	ended := term.start("top", "--watch=100ms")
	eventually(t, "the screen", func() bool {
		return strings.Contains(term.shown.String(), "\x1b[1mMissed slots of the last day: none\x1b[0m") && strings.Contains(term.shown.String(), "\x1b[32malive")
	})
	if _, err := term.outer.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if shown := term.shown.String(); strings.Contains(shown, "more lines") || !strings.Contains(shown, "Queues (3 of 6)") || !strings.Contains(shown, "hourbell top, every 100ms, q quits") {
		t.Errorf("the screen does not fit the terminal:\n%q", shown)
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		sizes      []int
		room, most int
		want       []int
	}{
		{[]int{3, 0, 50}, 10, 10, []int{3, 0, 7}},
		{[]int{3, 2, 50}, 100, 10, []int{3, 2, 10}},
		{[]int{9, 9, 9}, 4, 10, []int{2, 1, 1}},
		{nil, 4, 10, []int{}},
	} {
		if got := share(test.sizes, test.room, test.most); !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}
