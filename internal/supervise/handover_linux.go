package supervise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// State is a run without a node's part: what the next program of the process
// needs to take the run over.
type State struct {
	Supervisor int    `json:"supervisor"` // its process number
	Socket     int    `json:"socket"`     // the descriptor of the node's end
	Pid        int    `json:"pid"`        // see Process.Pid
	Mark       string `json:"mark"`
	Unread     []byte `json:"unread,omitempty"` // the beginning of a report

	Begun  bool           `json:"begun,omitempty"`  // the end of the command has begun,
	Why    Why            `json:"why,omitempty"`    // for this reason,
	Kill   uptime.Instant `json:"kill,omitempty"`   // with a grace until this instant
	Killed bool           `json:"killed,omitempty"` // the node has begun to kill the command
}

// ErrOver is the error of HandOver for a run that is over, or about to be over: Wait returns its
// result.
var ErrOver = errors.New("the command has ended")

// errHandedOver is the error of a process that was handed over.
var errHandedOver = errors.New("the command was handed over")

// HandOver ends the node's part of the run; the command and its supervisor go
// on. The socket stays open, with the number State.Socket. Do not use p after
// that, unless the error is ErrOver.
func (p *Process) HandOver() (State, error) {
	p.orders.Lock() // so that no order is cut off
	defer p.orders.Unlock()
	socket, err := p.duplicate()
	if err != nil {
		return State{}, err
	}
	p.leaves.Store(true)
	_ = p.socket.SetReadDeadline(time.Unix(1, 0)) // it fails only for a closed socket, of a run that is over
	<-p.done
	if !errors.Is(p.err, errHandedOver) {
		_ = syscall.Close(socket)
		return State{}, ErrOver
	}
	state := State{Supervisor: p.supervisor.Pid, Socket: socket, Pid: p.Pid(), Mark: p.mark, Unread: p.unread}
	p.mu.Lock()
	defer p.mu.Unlock()
	state.Begun, state.Why, state.Kill, state.Killed = p.ending.begun, p.ending.why, p.ending.kill, p.killed
	p.socket.Close()
	_ = p.supervisor.Release() // it is a child of the process, and stays one
	return state, nil
}

// duplicate returns another descriptor of the socket.
func (p *Process) duplicate() (fd int, err error) {
	conn, err := p.socket.SyscallConn()
	if err != nil {
		return 0, ErrOver // it is closed
	}
	var errno syscall.Errno
	err = conn.Control(func(own uintptr) {
		var number uintptr
		number, _, errno = syscall.Syscall(syscall.SYS_FCNTL, own, syscall.F_DUPFD_CLOEXEC, 3)
		fd = int(number)
	})
	switch {
	case err != nil:
		return 0, ErrOver
	case errno != 0:
		return 0, fmt.Errorf("hand over the command: duplicate the socket of its supervisor: %w", errno)
	}
	return fd, nil
}

// TakeOver goes on with a run that HandOver left, in the same process; see
// Start for claim and output. The node must be the parent of the supervisor, and
// the supervisor accepts only the node that started it. If the run cannot be
// taken over, its processes are killed.
func TakeOver(s State, claim Claim, output io.Writer) (*Process, error) {
	socket := os.NewFile(uintptr(s.Socket), "supervisor")
	if err := s.check(); err != nil {
		if socket != nil {
			socket.Close()
		}
		(&Process{mark: s.Mark}).killOrphans()
		return nil, fmt.Errorf("take over the command: %w; the command was killed", err)
	}
	supervisor, err := os.FindProcess(s.Supervisor)
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("take over the command: %w", err)
	}
	p := &Process{mark: s.Mark, supervisor: supervisor, socket: socket, killed: s.Killed, done: make(chan struct{})}
	p.pid.Store(int64(s.Pid))
	p.ending = ending{claim: claim, begun: s.Begun, why: s.Why, kill: s.Kill}
	go p.guard()
	_ = p.order(order{TakeOver: s.Mark}) // if the supervisor has ended, listen notices it
	_ = p.order(order{Claim: &claim})
	go p.listen(json.NewDecoder(io.MultiReader(bytes.NewReader(s.Unread), socket)), output)
	return p, nil
}

// check returns why a run cannot be taken over by this process: its supervisor
// is not a child of the process, or its socket was not made by the process.
func (s State) check() error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Supervisor))
	if err != nil {
		return fmt.Errorf("its supervisor, process %d, is not there: %w", s.Supervisor, err)
	}
	if found, ok := parseStat(s.Supervisor, stat); !ok || found.parent != os.Getpid() || s.Mark == "" {
		return fmt.Errorf("process %d is not a supervisor of this node", s.Supervisor)
	}
	if s.Socket <= 2 || !isSocket(s.Socket) {
		return fmt.Errorf("descriptor %d is not the socket of its supervisor", s.Socket)
	}
	peer, err := syscall.GetsockoptUcred(s.Socket, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || int(peer.Pid) != os.Getpid() { // a pair of sockets has the process that made it as its peer
		return fmt.Errorf("descriptor %d is not a socket of this node", s.Socket)
	}
	return syscall.SetNonblock(s.Socket, true)
}
