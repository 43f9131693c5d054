package delay

import (
	"bytes"
	"io"
	"math/rand"
	"net"
	"slices"
	"testing"
	"time"
)

// echo starts a server that sends back all bytes that it receives.
func echo(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// through connects to an echo server through a proxy.
func through(t *testing.T, delay time.Duration) *net.TCPConn {
	t.Helper()
	proxy, err := Listen(echo(t), delay)
	must(t, err)
	t.Cleanup(func() { proxy.Close() })
	conn, err := net.Dial("tcp", proxy.Addr())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestARoundTripTakesTwiceTheDelay checks that no answer comes before twice the
// delay, and that the quickest of many answers comes soon after that; on a busy
// machine the other answers may come later.
func TestARoundTripTakesTwiceTheDelay(t *testing.T) {
	const delay = 500 * time.Microsecond
	conn := through(t, delay)
	took := make([]time.Duration, 500)
	buffer := make([]byte, 1)
	for i := range took {
		started := time.Now()
		_, err := conn.Write([]byte{1})
		must(t, err)
		_, err = io.ReadFull(conn, buffer)
		must(t, err)
		took[i] = time.Since(started)
	}
	slices.Sort(took)
	t.Logf("least %v, median %v, most %v", took[0], took[len(took)/2], took[len(took)-1])
	if took[0] < 2*delay {
		t.Errorf("an answer came after %v, which is less than %v", took[0], 2*delay)
	}
	if took[0] > 2*delay+delay {
		t.Errorf("the quickest of %d answers took %v", len(took), took[0])
	}
}

// TestTheDelayDoesNotLimitHowMuchPasses sends 64 MB through a proxy of 20 ms.
// If each read waited for the previous read, this would take more than 20 s in
// each direction.
func TestTheDelayDoesNotLimitHowMuchPasses(t *testing.T) {
	conn := through(t, 20*time.Millisecond)
	sent := make([]byte, 64<<20)
	random := rand.New(rand.NewSource(1))
	random.Read(sent)
	got := make([]byte, len(sent))
	read := make(chan error, 1)
	started := time.Now()
	go func() {
		_, err := io.ReadFull(conn, got)
		read <- err
	}()
	_, err := conn.Write(sent)
	must(t, err)
	must(t, <-read)
	took := time.Since(started)
	t.Logf("%v", took)
	if !bytes.Equal(got, sent) {
		t.Error("other bytes came back than were sent")
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestTheEndPassesOn checks that the end of a connection is forwarded too,
// after all bytes that were written before.
func TestTheEndPassesOn(t *testing.T) {
	conn := through(t, time.Millisecond)
	_, err := conn.Write([]byte("last words"))
	must(t, err)
	must(t, conn.CloseWrite())
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	got, err := io.ReadAll(conn)
	must(t, err)
	if string(got) != "last words" {
		t.Errorf("got %q before the end", got)
	}
}

func TestCloseEndsConnections(t *testing.T) {
	proxy, err := Listen(echo(t), time.Millisecond)
	must(t, err)
	conn, err := net.Dial("tcp", proxy.Addr())
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte{1})
	must(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1))
	must(t, err)
	must(t, proxy.Close())
	must(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives its proxy")
	} else if nerr, ok := err.(net.Error); ok && nerr.Timeout() {
		t.Error("a connection stays open after its proxy was closed")
	}
}
