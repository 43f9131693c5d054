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
	// Label is what ps shows behind the supervisor's name. Never a secret.
	Label string
	// Path is the file to execute; relative to Dir, if it is relative.
	Path string
	Argv []string // with the program's name first
	Env  []string
	Dir  string // empty: the node's own
	// User is whom to run as, which needs root; nil: as the node.
	User *User
	// Stdin is what the command reads; empty: nothing.
	Stdin []byte
	// Inherit gives the command the node's own standard input, output and
	// error instead; no output is gathered then.
	Inherit bool
	// KeepDetached leaves processes alone that have left the session, after a
	// command that ended by itself. One that still writes to the output gets
	// SIGPIPE.
	KeepDetached bool
	// Grace is from SIGTERM to SIGKILL when the node has died, and for what
	// the command left behind.
	Grace time.Duration
}

// User is an identity to run as.
type User struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"` // supplementary; empty: none
}

// Result is how a command ended.
type Result struct {
	Code   int            `json:"code,omitempty"`   // if it exited
	Signal syscall.Signal `json:"signal,omitempty"` // or what ended it
	Why    Why            `json:"why,omitempty"`
	// LeftBehind counts the processes outside its session that a command left
	// which ended by itself; they were ended.
	LeftBehind int `json:"left_behind,omitempty"`
	// Unreachable counts processes that still live because the node has not
	// the right to end them.
	Unreachable int `json:"unreachable,omitempty"`
	// Forced says that the supervisor did not end the command when it should
	// have, so that the node killed both.
	Forced bool `json:"-"`
}

// Process is a command under its supervisor. Its methods are safe for
// concurrent use.
type Process struct {
	pid        atomic.Int64 // of the command; 0 while it is not known
	mark       string       // in the environment of the command
	supervisor *os.Process
	socket     *os.File
	// ahead is the supervisor's clock minus ours.
	ahead time.Duration

	mu     sync.Mutex
	ending ending  // what the supervisor should be doing
	killed bool    // the node has begun to kill the command
	forced *Result // once the node has killed the supervisor

	orders sync.Mutex // held while one is written
	done   chan struct{}
	result Result // once done is closed
	err    error
}

// Start runs a command until its end, or that of the claim. output gets what
// the command writes to its standard output and error, but for parts that were
// pushed out by OutputLimit newer bytes before they could be taken; Write is
// called by one goroutine at a time and not after Wait. The error is a
// *StartError if the system refused to start the command, and ErrClaimOver if
// it was too late for that.
func Start(spec Spec, claim Claim, output io.Writer) (*Process, error) {
	var mark string
	spec.Env, mark = marked(spec.Env)
	first, err := spec.order()
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
		_, _ = p.supervisor.Wait() // it ends now, if it has not
		close(p.done)
		return nil, err
	}
	p.expect(claim)
	go p.listen(reports, output)
	return p, nil
}

// ErrClaimOver says that a command was not started.
var ErrClaimOver = errors.New("the claim is about to pass")

// StartError says that the system refused to start a command.
type StartError struct{ Errno syscall.Errno }

// Error is what the system says.
func (e *StartError) Error() string { return e.Errno.Error() }

// Unwrap returns the system's number.
func (e *StartError) Unwrap() error { return e.Errno }

func (s Spec) order() (*task, error) {
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
		Inherit: s.Inherit, KeepDetached: s.KeepDetached, Grace: s.Grace,
	}, nil
}

// launch starts the supervisor and returns with our end of the socket.
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
	// Standard error is ours, for the last words of a runtime that fails.
	files := []*os.File{null, null, os.Stderr, far}
	if spec.Inherit {
		files = append(files, os.Stdin, os.Stdout, os.Stderr)
	}
	supervisor, err := os.StartProcess(self, []string{processName, spec.Label}, &os.ProcAttr{
		Env: []string{"GOMAXPROCS=2", "GOTRACEBACK=single"}, Files: files,
		// A group of its own keeps a terminal's signals from it. In a session of
		// its own it would miss what the system does for a group whose parent
		// dies: it has the group go on if it was stopped.
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		near.Close()
		return nil, err
	}
	return &Process{supervisor: supervisor, socket: near, done: make(chan struct{})}, nil
}

// ownFile is the file this process runs. On Linux it is found also after it
// was replaced by a newer one.
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

// handshake tells the supervisor what to run and hears whether it does.
func (p *Process) handshake(reports *json.Decoder, first *task, claim Claim) error {
	var answer report
	if !uptime.Shared {
		if err := reports.Decode(&answer); err != nil {
			return p.lost(err)
		}
		// Its clock has gone on since it told, so it will be early, not late.
		p.ahead = answer.Clock - uptime.Now()
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

// lost is the error where the supervisor ended too early. It may have started
// the command.
func (p *Process) lost(err error) error {
	_ = p.supervisor.Kill()    // it does not answer, if it lives
	_, _ = p.supervisor.Wait() // nothing is to be learnt from how it ended
	p.killOrphans()
	return fmt.Errorf("the command's supervisor ended before it could start it: %w", err)
}

// listen takes the reports until the supervisor has ended.
func (p *Process) listen(reports *json.Decoder, output io.Writer) {
	defer close(p.done)
	var ended *Result
	for {
		var r report
		if reports.Decode(&r) != nil {
			break
		}
		if len(r.Output) > 0 {
			_, _ = output.Write(r.Output) // what it keeps is its business
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
	p.err = fmt.Errorf("the command's supervisor ended before it (%s): the command was killed, but daemons of its that cleared their environment may be left", how)
}

// Hold tells until when the claim may now be trusted.
func (p *Process) Hold(claim Claim) {
	p.expect(claim)
	claim = p.translate(claim)
	_ = p.order(order{Claim: &claim}) // if it has died, listen knows
}

// Stop ends the command and all its descendants: SIGTERM, and SIGKILL to what
// is left after grace. 0 kills at once. It does not wait. A later call can
// shorten the grace.
func (p *Process) Stop(grace time.Duration) {
	grace = max(grace, 0)
	p.mu.Lock()
	p.ending.begin(Stopped, uptime.Now(), grace)
	p.mu.Unlock()
	_ = p.order(order{Stop: &grace}) // if it has died, listen knows
}

// Signal passes a signal on to the process group the command began with.
func (p *Process) Signal(signal syscall.Signal) {
	_ = p.order(order{Signal: signal}) // if it has died, listen knows
}

// orderLimit is how long a supervisor may take to read an order.
const orderLimit = 30 * time.Second

// order writes an order. A supervisor that does not read cannot hold us up.
func (p *Process) order(o order) error {
	_ = p.resume() // if it has died, listen knows
	p.orders.Lock()
	defer p.orders.Unlock()
	_ = p.socket.SetWriteDeadline(time.Now().Add(orderLimit)) // sockets have deadlines
	return json.NewEncoder(p.socket).Encode(o)
}

func (p *Process) translate(claim Claim) Claim {
	if claim == (Claim{}) {
		return claim
	}
	return Claim{Term: claim.Term + p.ahead, Kill: claim.Kill + p.ahead}
}

// Pid is the number of the command's first process, which leads its session.
func (p *Process) Pid() int { return int(p.pid.Load()) }

// Done is closed when the run is over.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the run is over: nothing of the command lives but for what
// Result says. The error says that the supervisor itself came to an end.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}
