package steps_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestTooManyOpenFiles connects while the process can open no file: the connection is served once it can.
func TestTooManyOpenFiles(t *testing.T) {
	folder, err := steps.Folder()
	must(t, err)
	defer os.RemoveAll(folder)
	server, err := steps.Serve(context.Background(), folder, steps.Job{ID: "7"})
	must(t, err)
	defer server.Close()
	connect := func(files uint64) (*net.UnixConn, error) {
		var before syscall.Rlimit
		must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
		last, err := syscall.Dup(0) // the least free number
		must(t, err)
		must(t, syscall.Close(last))
		full := before
		full.Cur = uint64(last) + files
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &full))
		defer func() { must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)) }()
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: steps.Path(folder), Net: "unix"})
		time.Sleep(100 * time.Millisecond) // the server tries to accept it
		return conn, err
	}
	client, err := connect(1) // the client's end
	for files := uint64(2); errors.Is(err, syscall.EMFILE) && files < 10; files++ {
		client, err = connect(files) // the runtime has opened files of its own
	}
	must(t, err)
	defer client.Close()
	must(t, client.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(client, "{}\n")
	must(t, err)
	if answer, err := io.ReadAll(client); err != nil || !strings.Contains(string(answer), "error") {
		t.Errorf("the answer is %q, %v", answer, err)
	}
}
