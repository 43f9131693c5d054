package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Job is a job whose steps are taken.
type Job struct {
	ID, Token string
	// Step calls do unless the step is done, and returns its result.
	Step func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error)
	// Wait returns the value of a signal.
	Wait func(ctx context.Context, name string, timeout time.Duration) (json.RawMessage, error)
	// Parked and TimedOut report what an error of Wait means.
	Parked, TimedOut func(error) bool
}

// Server serves the socket of one running command.
type Server struct {
	job      Job
	listener *net.UnixListener
	serving  sync.WaitGroup
	cancel   context.CancelFunc

	turn chan struct{} // has a value while a step is taken

	mu     sync.Mutex
	used   bool
	busy   string // the step that is taken, or was taken last
	parked error  // with which the worker lets the job lie aside; nil: it goes on
}

// Folder makes a folder for a socket that only this user may enter.
func Folder() (string, error) { return os.MkdirTemp("", "hourbell-steps-") }

// Path returns the path of the socket in a folder.
func Path(folder string) string { return filepath.Join(folder, "socket") }

// Serve serves the socket in a folder until Close, or until ctx ends.
func Serve(ctx context.Context, folder string, job Job) (*Server, error) {
	path := Path(folder)
	_ = os.Remove(path) // of a program that was replaced
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // the folder is for one user
		return nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Server{job: job, listener: listener, cancel: cancel, turn: make(chan struct{}, 1)}
	s.serving.Go(func() { s.accept(ctx) })
	return s, nil
}

// Close ends the service, and waits for steps whose results are being stored.
func (s *Server) Close() {
	s.cancel()
	_ = s.listener.Close()
	s.serving.Wait()
}

// Used reports whether a program has asked.
func (s *Server) Used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Parked returns the error with which the worker lets the job lie aside; nil: it goes on.
func (s *Server) Parked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked
}

// acceptAgain is how long the server waits after a connection could not be accepted, as when the process has too many open files.
const acceptAgain = 50 * time.Millisecond

// accept serves connections until Close.
func (s *Server) accept(ctx context.Context) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(acceptAgain):
				continue
			}
		}
		s.serving.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
			s.serve(ctx, conn)
		})
	}
}

// serve answers one connection.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	in, out := json.NewDecoder(io.LimitReader(conn, 2*maxMessage)), encoder(conn)
	var req request
	err := in.Decode(&req)
	if err == nil {
		err = req.admit(s.job.ID, s.job.Token)
	}
	if err == nil {
		err = s.begin(req)
	}
	switch {
	case err == nil:
		_ = out.Encode(s.answer(ctx, req, in, out))
	case errors.Is(err, ErrParked):
		_ = out.Encode(reply{Parked: true})
	default:
		_ = out.Encode(reply{Error: err.Error()})
	}
}

// turnTime is how long a step waits for the end of the step before, whose program may have been killed a moment ago.
const turnTime = 2 * time.Second

// begin lets a step begin, unless another step is taken, or the job lies aside. After begin, answer is called.
func (s *Server) begin(req request) error {
	timeout := time.NewTimer(turnTime)
	defer timeout.Stop()
	inTurn := false
	select {
	case s.turn <- struct{}{}:
		inTurn = true
	case <-timeout.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !inTurn:
		return fmt.Errorf("step %q is not over: a job takes its steps one after the other", s.busy)
	case s.parked != nil:
		<-s.turn
		return ErrParked
	}
	s.busy, s.used = req.Step+req.Wait, true
	return nil
}

// answer takes a step or waits for a signal, and returns the last reply.
func (s *Server) answer(ctx context.Context, req request, in *json.Decoder, out *json.Encoder) (last reply) {
	var err error
	if req.Step != "" {
		last.Value, err = s.job.Step(ctx, req.Step, func(context.Context) (json.RawMessage, error) {
			if err := out.Encode(reply{Take: true}); err != nil {
				return nil, err
			}
			var result taken
			if err := in.Decode(&result); err != nil {
				return nil, fmt.Errorf("the program of step %q ended without a result: %w", req.Step, err)
			}
			if result.Failed {
				return nil, fmt.Errorf("step %q has failed", req.Step)
			}
			return result.Value, nil
		})
	} else {
		last.Value, err = s.job.Wait(ctx, req.Wait, req.For)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	<-s.turn
	switch {
	case err == nil:
	case s.job.Parked(err):
		s.parked = err
		return reply{Parked: true}
	case s.job.TimedOut(err):
		return reply{TimedOut: true}
	default:
		return reply{Error: err.Error()}
	}
	return last
}
