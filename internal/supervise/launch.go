//go:build unix

package supervise

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// start starts the command and begins to read its output.
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

// keepDescriptors prevents the command from inheriting the descriptors that the
// supervisor has open: its own descriptors and the descriptors with which the
// node was started.
func keepDescriptors() {
	for _, fd := range descriptors() {
		if fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// descriptors returns the open descriptors, or, on a system that does not list
// them, the first 4096 numbers, open or not.
func descriptors() (open []int) {
	if names, err := readNames("/proc/self/fd"); err == nil {
		for _, name := range names {
			if fd, err := strconv.Atoi(name); err == nil {
				open = append(open, fd)
			}
		}
		return open
	}
	for fd := range 4096 {
		open = append(open, fd)
	}
	return open
}

func readNames(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// files returns the command's standard input and output. The output also
// receives the command's errors, unless the command inherits the descriptors of
// the node.
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
	// Reads and writes of the command must block; the other end belongs to the
	// Go runtime and does not block.
	return in, out, syscall.SetNonblock(int(out.Fd()), false)
}

// stdin returns the file from which the command reads its standard input: a pipe, also if
// the input is empty, as under cron.
func (s *supervisor) stdin() (*os.File, error) {
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

// errnoOf returns the system's error number of a failure.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EINVAL
}
