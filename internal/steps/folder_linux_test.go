package steps_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/hourbell/hourbell/internal/steps"
)

// TestFolderIsPrivate lets another user try to reach a socket: in vain, until the folder is given to this user.
func TestFolderIsPrivate(t *testing.T) {
	folder, err := steps.Folder()
	must(t, err)
	defer os.RemoveAll(folder)
	if info, err := os.Stat(folder); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("the folder has the mode %v, %v", info.Mode(), err)
	}
	server, err := steps.Serve(context.Background(), folder, steps.Job{})
	must(t, err)
	defer server.Close()
	if os.Geteuid() != 0 {
		t.Skip("only root can try as another user")
	}
	const user = 65534
	if err := connectAs(user, steps.Path(folder)); !errors.Is(err, syscall.EACCES) {
		t.Errorf("another user reaches the socket: %v", err)
	}
	must(t, os.Chown(folder, user, user))
	if err := connectAs(user, steps.Path(folder)); err != nil {
		t.Errorf("the user of the command does not reach the socket: %v", err)
	}
	if err := connectAs(user-1, steps.Path(folder)); !errors.Is(err, syscall.EACCES) {
		t.Errorf("a third user reaches the socket: %v", err)
	}
}

// connectAs connects to a socket with the rights that a user has in the file system.
func connectAs(user int, path string) error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, because its user has changed
		err := syscall.Setfsuid(user)
		if err == nil {
			err = connect(path)
		}
		tried <- err
	}()
	return <-tried
}

func connect(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
}
