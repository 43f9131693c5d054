//go:build unix

package supervise

import (
	"errors"
	"os"
	"syscall"
)

// start starts the command, and the reading of its output.
func (s *supervisor) start() error {
	attr := &syscall.SysProcAttr{Setsid: true}
	dieWithParent(attr)
	if u := s.task.User; u != nil {
		attr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
	}
	in, out, err := s.files()
	if err != nil {
		return err
	}
	files := []uintptr{in.Fd(), out.Fd(), out.Fd()}
	if s.task.Inherit {
		files[2] = inheritFD + 2
	}
	s.main, err = syscall.ForkExec(string(s.task.Path), unpack(s.task.Argv), &syscall.ProcAttr{
		Dir: string(s.task.Dir), Env: unpack(s.task.Env), Files: files, Sys: attr,
	})
	in.Close()
	out.Close()
	return err
}

// files returns the command's standard input and output. It writes errors to
// its output as well, unless it inherits both.
func (s *supervisor) files() (in, out *os.File, err error) {
	if s.task.Inherit {
		return os.NewFile(inheritFD, "stdin"), os.NewFile(inheritFD+1, "stdout"), nil
	}
	if in, err = s.stdin(); err != nil {
		return nil, nil, err
	}
	if out, err = s.relay.pipe(); err != nil {
		in.Close()
		return nil, nil, err
	}
	// The command's end waits; the other one is the runtime's, and does not.
	return in, out, syscall.SetNonblock(int(out.Fd()), false)
}

// stdin returns what the command reads from.
func (s *supervisor) stdin() (*os.File, error) {
	if len(s.task.Stdin) == 0 {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = w.Write(s.task.Stdin) // the command need not read all of it
		w.Close()
	}()
	return r, syscall.SetNonblock(int(r.Fd()), false)
}

// errnoOf returns the system's number for why something failed.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EINVAL
}
