//go:build unix

package supervise

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/tail"
)

// OutputLimit is how many bytes of a command's output are kept while its node
// does not read them: the last bytes.
const OutputLimit = 64 << 10

// streamEvery is the least time between two reports of output. A flood of
// output is thus reduced in the supervisor, because the node keeps only the end
// anyway.
const streamEvery = 20 * time.Millisecond

// relay carries a command's output and the reports to the node. Reading the
// output never waits for the node; writing reports does.
type relay struct {
	node   *json.Encoder
	output *tail.Tail
	source *os.File      // the pipe; nil if the command inherits the node's output
	fresh  chan struct{} // there is output to report
	eof    chan struct{} // closed when nothing more will be read
	stop   chan struct{} // closed when the run is over
	idle   chan struct{} // closed when stream has returned
}

func newRelay(node io.Writer) *relay {
	return &relay{
		node: json.NewEncoder(node), output: tail.New(OutputLimit), fresh: make(chan struct{}, 1),
		eof: make(chan struct{}), stop: make(chan struct{}), idle: make(chan struct{}),
	}
}

// report sends a report to the node. If the node is gone, reading its orders
// fails, so the error is ignored.
func (r *relay) report(what report) { _ = r.node.Encode(what) }

// pipe returns the end to which the command writes, and begins to read the
// other end.
func (r *relay) pipe() (*os.File, error) {
	source, sink, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.source = source
	go r.read()
	return sink, nil
}

func (r *relay) read() {
	defer close(r.eof)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.source.Read(buf)
		_, _ = r.output.Write(buf[:n]) // never fails
		if err != nil {
			return
		}
		select {
		case r.fresh <- struct{}{}:
		default:
		}
	}
}

// stream reports the output as it comes, until the run is over.
func (r *relay) stream() {
	defer close(r.idle)
	for {
		select {
		case <-r.stop:
			return
		case <-r.fresh:
			r.tell()
		}
		select {
		case <-r.stop:
			return
		case <-time.After(streamEvery):
		}
	}
}

// tell sends the output that the node has not received yet.
func (r *relay) tell() {
	if fresh, skipped := r.output.Next(); len(fresh) > 0 {
		r.report(report{Output: fresh, Skipped: skipped})
	}
}

// finish sends the rest of the output, and the result.
func (r *relay) finish(result Result) {
	close(r.stop)
	<-r.idle
	if r.source != nil {
		r.drain()
		r.tell()
	}
	r.report(report{Ended: &result})
}

// drain reads the current content of the pipe without waiting for more, because
// a process that is left alive may hold the other end.
func (r *relay) drain() {
	_ = r.source.SetReadDeadline(time.Unix(1, 0)) // pipes have deadlines
	<-r.eof
	_ = r.source.SetReadDeadline(time.Time{})
	conn, err := r.source.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for range 64 { // a pipe holds at most 1 MiB, unless root raised the limit
		n := 0
		_ = conn.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf)
			return true // do not wait for more
		})
		if n <= 0 {
			return
		}
		_, _ = r.output.Write(buf[:n]) // never fails
	}
}
