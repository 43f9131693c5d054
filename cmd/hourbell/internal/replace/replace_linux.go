// Package replace replaces the program of this process in place: the process keeps its number, its
// children, and the descriptors that the two programs agree on. Exec passes a message, which Take
// receives in the next program.
package replace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Possible reports whether a program can be replaced in place on this system.
const Possible = true

// variable is the name of the environment variable that has the number of the descriptor of the
// message.
const variable = "HOURBELL_HANDOVER"

// seals are the seals of a message: nothing can change it any more.
const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// Exec replaces the program of this process by the program in a file, which keeps the given
// descriptors. It returns only if the program was not replaced; then the process is as before.
func Exec(file string, argv, env []string, message []byte, descriptors []int) error {
	memory, err := sealed(message)
	if err != nil {
		return fmt.Errorf("write the message for the next program: %w", err)
	}
	defer memory.Close()
	fd := int(memory.Fd())
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, variable+"=") })
	env = append(env, variable+"="+strconv.Itoa(fd))

	syscall.ForkLock.Lock() // a process that is started now would inherit the descriptors
	defer syscall.ForkLock.Unlock()
	kept := append(slices.Clone(descriptors), fd)
	defer func() { _ = Keep(kept) }() // they are open
	for _, one := range kept {
		if _, err := unix.FcntlInt(uintptr(one), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keep descriptor %d open for the next program: %w", one, err)
		}
	}
	return fmt.Errorf("replace the program: %w", &os.PathError{Op: "exec", Path: file, Err: syscall.Exec(file, argv, env)})
}

// sealed returns a file in memory with the given content, which no process can change any more.
func sealed(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("hourbell", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "message")
	if _, err = file.Write(content); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Take returns the message of the program that this program replaced; nil: it replaced none. Take
// removes the variable that names the message from the environment. Call Take before the process
// starts others, and then Keep with the descriptors in the message.
func Take() ([]byte, error) {
	text, given := os.LookupEnv(variable)
	if !given {
		return nil, nil
	}
	if err := os.Unsetenv(variable); err != nil {
		return nil, err
	}
	fd, err := strconv.Atoi(text)
	if err == nil && fd > 2 {
		var found int
		if found, err = unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err == nil && found == seals {
			return read(fd)
		}
	}
	return nil, fmt.Errorf("%s=%q does not name a message of the program before: remove the variable from the "+
		"environment; only a program that replaces itself sets it", variable, text)
}

// read returns the content of a message, and closes it.
func read(fd int) ([]byte, error) {
	file := os.NewFile(uintptr(fd), "message")
	defer file.Close()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// Keep makes descriptors that the program before passed invisible to the processes that this process
// starts. The error names the descriptors that are not open.
func Keep(descriptors []int) error {
	var errs []error
	for _, fd := range descriptors {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			errs = append(errs, fmt.Errorf("descriptor %d: %w", fd, err))
		}
	}
	return errors.Join(errs...)
}
