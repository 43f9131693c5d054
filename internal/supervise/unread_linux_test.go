package supervise

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// TestHandOverWithinAReport hands a run over when half of a report was read: the rest is read after the
// run was taken over.
func TestHandOverWithinAReport(t *testing.T) {
	near, far, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	silent, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "exec sleep 300"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &Process{supervisor: silent, socket: near, mark: markName + "within", done: make(chan struct{})}
	go p.listen(json.NewDecoder(near), &out)
	first, last := []byte(`{"output":"d2hv`), []byte("bGU=\"}\n{\"ended\":{\"code\":5}}\n")
	if _, err := far.Write(first); err != nil {
		t.Fatal(err)
	}
	for unread := false; !unread; { // until the first half was read
		time.Sleep(5 * time.Millisecond) // the hand-over prevents reads that have not begun
		state, err := p.HandOver()
		if err != nil {
			t.Fatal(err)
		}
		unread = bytes.Equal(state.Unread, first)
		if p, err = TakeOver(state, Claim{}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := far.Write(last); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if err := p.supervisor.Kill(); err != nil {
		t.Fatal(err)
	}
	if result, err := p.Wait(); err != nil || result.Code != 5 || out.String() != "whole" {
		t.Errorf("result %+v, %v, output %q", result, err, out.String())
	}
}
