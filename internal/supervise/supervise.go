//go:build unix

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// Spec is a command to run.
type Spec struct {
	// Label is the text that ps shows behind the supervisor's name. It must not
	// be secret.
	Label string
	// Path is the file to execute; a relative path is relative to Dir.
	Path string
	Argv []string // begins with the program's name
	Env  []string
	Dir  string // empty: the node's current folder
	// User is the identity with which the command runs, which needs root; nil:
	// the node's identity.
	User *User
	// Stdin is the command's standard input; may be empty.
	Stdin []byte
	// Inherit gives the command the node's own standard input, output and
	// error; then no output is collected.
	Inherit bool
	// KeepDetached leaves processes alone that have left the session, after the
	// command ended by itself. Such a process gets SIGPIPE if it still writes
	// to the output.
	KeepDetached bool
	// Grace is the time from SIGTERM to SIGKILL when the node has died, and for
	// processes that the command left behind.
	Grace time.Duration
}

// User is the identity of a user.
type User struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"` // supplementary groups; empty: none
}

// Result describes how a command ended.
type Result struct {
	Code   int            `json:"code,omitempty"`   // the exit code, if the command exited
	Signal syscall.Signal `json:"signal,omitempty"` // the signal that ended the command
	Why    Why            `json:"why,omitempty"`
	// LeftBehind counts the processes outside the session that a command left
	// when it ended by itself; these processes were ended.
	LeftBehind int `json:"left_behind,omitempty"`
	// Unreachable counts processes that still live because the node may not
	// signal them.
	Unreachable int `json:"unreachable,omitempty"`
	// Forced reports that the supervisor did not end the command in time, so
	// that the node killed the command.
	Forced bool `json:"-"`
}

// Process is a command under its supervisor. Concurrent calls of its methods
// are allowed.
type Process struct {
	pid        atomic.Int64 // the process number of the command; 0 while it is not known
	mark       string       // in the environment of the command
	supervisor *os.Process
	socket     *os.File
	// ahead is the supervisor's clock minus the node's clock.
	ahead time.Duration

	mu     sync.Mutex
	ending ending  // what the supervisor should be doing at present
	killed bool    // the node has begun to kill the command
	forced *Result // set when the node has killed the supervisor

	orders sync.Mutex  // held while an order is written
	leaves atomic.Bool // the node hands the run over: see HandOver
	unread []byte      // of a run that was handed over, valid when done is closed: the beginning of a report
	done   chan struct{}
	result Result // valid when done is closed
	err    error
}

// Start starts a command, which runs until it ends or the claim ends. output
// receives the command's standard output and error, except bytes that were
// displaced by OutputLimit newer bytes before the node could read them; if it
// has a method Skip(int64), Skip gets the number of these bytes. Write is called by one goroutine at a time, and not after Wait has returned. The
// error is a *StartError if the system refused to start the command, and
// ErrClaimOver if the claim was about to pass.
func Start(spec Spec, claim Claim, output io.Writer) (*Process, error) {
	var mark string
	spec.Env, mark = marked(spec.Env)
	first, err := spec.order(mark)
	if err != nil {
		return nil, err
	}
	p, err := launch(spec)
	if err != nil {
		return nil, fmt.Errorf("start the command's supervisor: %w", err)
	}
	p.mark = mark
	p.expectStart(claim)
	go p.guard()
	reports := json.NewDecoder(p.socket)
	if err := p.handshake(reports, first, claim); err != nil {
		p.socket.Close()
		_, _ = p.supervisor.Wait() // it ends now, if it has not ended yet
		close(p.done)
		return nil, err
	}
	p.expect(claim)
	go p.listen(reports, output)
	return p, nil
}

// ErrClaimOver is the error for a command that was not started because its
// claim was about to pass.
var ErrClaimOver = errors.New("the claim is about to pass")

// StartError is the error of the system when it refused to start a command.
type StartError struct{ Errno syscall.Errno }

// Error returns the system's text for the error number.
func (e *StartError) Error() string { return e.Errno.Error() }

// Unwrap returns the system's error number.
func (e *StartError) Unwrap() error { return e.Errno }

func (s Spec) order(mark string) (*task, error) {
	argv, err := pack("argv", s.Argv)
	if err != nil {
		return nil, err
	}
	env, err := pack("env", s.Env)
	if err != nil {
		return nil, err
	}
	return &task{
		Path: []byte(s.Path), Argv: argv, Env: env, Dir: []byte(s.Dir), User: s.User, Stdin: s.Stdin,
		Inherit: s.Inherit, KeepDetached: s.KeepDetached, Grace: s.Grace, Node: os.Getpid(), Mark: mark,
	}, nil
}

// launch starts the supervisor and keeps the node's end of the socket.
func launch(spec Spec) (*Process, error) {
	self, err := ownFile()
	if err != nil {
		return nil, err
	}
	near, far, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		near.Close()
		return nil, err
	}
	defer null.Close()
	// Standard error is the node's, so that the last message of a failing Go
	// runtime is not lost.
	files := []*os.File{null, null, os.Stderr, far}
	if spec.Inherit {
		files = append(files, os.Stdin, os.Stdout, os.Stderr)
	}
	// The supervisor gets a process group of its own, so that a terminal's
	// signals do not reach it. It gets no session of its own, because the
	// system continues the stopped processes of a group when the group's
	// parent dies, but only within a session.
	attr := &syscall.SysProcAttr{Setpgid: true}
	continueWithoutParent(attr)
	supervisor, err := os.StartProcess(self, []string{processName, spec.Label}, &os.ProcAttr{
		Env: []string{"GOMAXPROCS=2", "GOTRACEBACK=single"}, Files: files,
		Sys: attr,
	})
	if err != nil {
		near.Close()
		return nil, err
	}
	return &Process{supervisor: supervisor, socket: near, done: make(chan struct{})}, nil
}

// ownFile returns the path of the file that this process runs. On Linux the
// path is valid even after the file was replaced by a newer one.
func ownFile() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// socketPair returns two connected sockets that no other process inherits.
func socketPair() (near, far *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, os.NewSyscallError("setnonblock", err)
	}
	return os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "node"), nil
}

// handshake sends the supervisor the command, and waits for the report of its
// start.
func (p *Process) handshake(reports *json.Decoder, first *task, claim Claim) error {
	var answer report
	if !uptime.Shared {
		if err := reports.Decode(&answer); err != nil {
			return p.lost(err)
		}
		// Time has passed since the supervisor reported its clock, so the
		// supervisor acts too early rather than too late.
		p.ahead = answer.Clock.Sub(uptime.Now())
	}
	translated := p.translate(claim)
	if err := p.order(order{Start: first, Claim: &translated}); err != nil {
		return p.lost(err)
	}
	if err := reports.Decode(&answer); err != nil {
		return p.lost(err)
	}
	switch {
	case answer.Failed != 0:
		return &StartError{Errno: answer.Failed}
	case answer.Ended != nil:
		return ErrClaimOver
	}
	p.pid.Store(int64(answer.Started))
	return nil
}

// lost returns the error for a supervisor that ended before it reported a
// start. The supervisor may have started the command.
func (p *Process) lost(err error) error {
	_ = p.supervisor.Kill()    // it does not answer, even if it lives
	_, _ = p.supervisor.Wait() // its exit status has no further information
	p.killOrphans()
	return fmt.Errorf("the command's supervisor ended before it started the command: %w", err)
}

// listen receives the reports until the supervisor has ended.
func (p *Process) listen(reports *json.Decoder, output io.Writer) {
	defer close(p.done)
	var ended *Result
	for {
		var r report
		if err := reports.Decode(&r); err != nil {
			if ended == nil && p.leaves.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
				p.unread, _ = io.ReadAll(reports.Buffered()) // reads memory
				p.err = errHandedOver
				return
			}
			break
		}
		if counter, counts := output.(interface{ Skip(n int64) }); counts && r.Skipped > 0 {
			counter.Skip(r.Skipped)
		}
		if len(r.Output) > 0 {
			_, _ = output.Write(r.Output) // an error is the concern of the writer
		}
		if r.Ended != nil {
			ended = r.Ended
		}
	}
	state, err := p.supervisor.Wait()
	p.socket.Close()
	if ended != nil {
		p.result = p.reported(*ended)
		return
	}
	p.killOrphans()
	if forced := p.wasForced(); forced != nil {
		p.result = *forced
		return
	}
	how := fmt.Sprint(err)
	if err == nil {
		how = state.String()
	}
	p.err = fmt.Errorf("the command's supervisor ended before the command (%s); the command was killed, but daemons that "+
		"cleared their environment may be left", how)
}

// Hold sets a new time until which the claim may be trusted.
func (p *Process) Hold(claim Claim) {
	p.expect(claim)
	claim = p.translate(claim)
	_ = p.order(order{Claim: &claim}) // if the supervisor has died, listen notices it
}

// Stop ends the command and all its descendants: it sends SIGTERM, and SIGKILL
// to the processes left after grace. A grace of 0 kills at once. Stop does not
// wait. A later call can shorten the grace.
func (p *Process) Stop(grace time.Duration) {
	grace = max(grace, 0)
	p.mu.Lock()
	p.ending.begin(Stopped, uptime.Now(), grace)
	p.mu.Unlock()
	_ = p.order(order{Stop: &grace}) // if the supervisor has died, listen notices it
}

// Signal sends a signal to the process group with which the command began.
func (p *Process) Signal(signal syscall.Signal) {
	_ = p.order(order{Signal: signal}) // if the supervisor has died, listen notices it
}

// orderLimit is how long a supervisor may take to read an order.
const orderLimit = 30 * time.Second

// order writes an order. A supervisor that does not read blocks the node for at
// most orderLimit.
func (p *Process) order(o order) error {
	_ = p.resume() // if the supervisor has died, listen notices it
	p.orders.Lock()
	defer p.orders.Unlock()
	_ = p.socket.SetWriteDeadline(time.Now().Add(orderLimit)) // sockets have deadlines
	return json.NewEncoder(p.socket).Encode(o)
}

func (p *Process) translate(claim Claim) Claim {
	if claim == (Claim{}) {
		return claim
	}
	return Claim{Term: claim.Term.Add(p.ahead), Kill: claim.Kill.Add(p.ahead)}
}

// Pid returns the number of the command's first process, which leads its
// session.
func (p *Process) Pid() int { return int(p.pid.Load()) }

// Done returns a channel that is closed when the run is over.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the run is over: no process of the command lives, except
// the processes that Result counts. The error means that the supervisor ended
// before the command.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}
