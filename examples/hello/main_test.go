package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"testing"
)

// TestRun reads the greetings of the job and of the schedule, and stops the node.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, filepath.Join(t.TempDir(), "hello.db"), in)
		in.Close()
		ended <- err
	}()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if seen[lines.Text()] = true; seen["hello Ada"] && seen["hello again"] {
			stop()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(seen) != 2 {
		t.Errorf("the example prints %v", seen)
	}
}
