package postgres

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// TestFaults lets each statement and each commit fail, in a proxy between the driver and the server, so that the server, too,
// gives the transaction up: a statement that fails is replaced by one that the server refuses, and a commit by a roll-back. An
// error of a commit that has taken effect comes only with the end of its connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	faults := &storetest.Faults{Ways: func(point storetest.FaultPoint) (ways []string) {
		for _, code := range []string{lockNotAvailable, "40001", "40P01"} {
			ways = append(ways, code+" before")
			if !point.Commit {
				ways = append(ways, code+" after")
			}
		}
		if point.Commit {
			ways = append(ways, adminShutdown+" after")
		}
		return append(ways, cut+" before", cut+" after")
	}}
	proxied := newFaultProxy(t, urlFrom(t, serverVariable), faults.At)
	schema := newSchema(t)
	a, b := openAt(t, proxied, schema), openAt(t, urlFrom(t, serverVariable), schema)
	migrate(t, b)
	storetest.RunFaults(t, faults, func(t *testing.T) storetest.Store {
		empty(t, b)
		_, err := b.pool.Exec(t.Context(), withSchema("update {schema}.timeline set accepted = 0, lost_at = null, seen_token = 0, seen_node = 0, seen_accepted = 0", schema))
		must(t, err)
		return storetest.Store{Clients: [2]store.Backend{a, b}, Begin: beginOn(a), RowLocks: true}
	})
}

// TestACommitWithoutAnAnswerIsNotRepeated cuts the connection when a commit has taken effect. pgx reports that as if nothing had been sent.
func TestACommitWithoutAnAnswerIsNotRepeated(t *testing.T) {
	schema := newSchema(t)
	direct := openAt(t, urlFrom(t, serverVariable), schema)
	migrate(t, direct)
	for name, change := range map[string]func(b *Backend) error{
		"Message": func(b *Backend) error {
			_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: noop(1)})
			return err
		},
		"Transaction": func(b *Backend) error {
			_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: noop(1), By: store.Actor{Name: "ada"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var cuts atomic.Bool
			proxied := newFaultProxy(t, urlFrom(t, serverVariable), func(_ string, commit bool) string {
				if commit && cuts.CompareAndSwap(true, false) {
					return cut + " after"
				}
				return ""
			})
			empty(t, direct)
			b := openAt(t, proxied, schema)
			cuts.Store(true)
			if err := change(b); !errors.Is(err, store.ErrUnknown) {
				t.Errorf("the error of a commit whose answer was lost must be ErrUnknown: %v", err)
			}
			n, err := direct.CountJobs(t.Context(), store.CountJobsRequest{})
			must(t, err)
			if n != 1 || cuts.Load() {
				t.Errorf("an insert of one job whose commit had no answer has stored %d jobs (cut: %v)", n, !cuts.Load())
			}
		})
	}
}

const (
	cut           = "cut"
	adminShutdown = "57P01" // the server ends the connection
)

// The types of the messages of PostgreSQL's protocol that the proxy knows.
const (
	msgQuery, msgParse, msgBind, msgExecute, msgSync, msgFlush = 'Q', 'P', 'B', 'E', 'S', 'H'
	msgComplete, msgError, msgReady                            = 'C', 'E', 'Z'
)

// newFaultProxy listens for connections to a server, and returns the URL by which they come through the proxy. Statements and commits
// fail in the ways that fails returns, as storetest.Faults.At does.
func newFaultProxy(t *testing.T, server string, fails func(text string, commit bool) (way string)) string {
	t.Helper()
	at, err := url.Parse(server)
	must(t, err)
	target := at.Host
	if at.Port() == "" {
		target = net.JoinHostPort(at.Hostname(), "5432")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			c := &faultConn{client: client, server: server.(*net.TCPConn), fails: fails, prepared: map[string]string{}, status: 'I', drop: -1, cutAt: -1}
			go c.forward()
			go c.answer()
		}
	}()
	at.Host = listener.Addr().String()
	query := at.Query()
	query.Set("sslmode", "disable")
	at.RawQuery = query.Encode()
	return at.String()
}

// faultConn is a connection through the proxy. One goroutine forwards what the client sends, and another what the server answers. The
// client sees that a connection is cut when the server process has ended, so that nothing happens after that.
type faultConn struct {
	client   net.Conn
	server   *net.TCPConn
	fails    func(text string, commit bool) (way string)
	prepared map[string]string // the texts of prepared statements; only for forward

	mu       sync.Mutex // guards what follows
	status   byte       // of the transaction, as the server reported it last
	executes int        // since the last Sync
	last     string     // the text of the last statement since the last Sync; empty: none
	refuse   string     // the code that the server's next error gets
	replace  bool       // the next CommandComplete becomes this error
	drop     int        // which CommandComplete since the last ReadyForQuery is left out; -1: none
	cutAt    int        // at which CommandComplete since the last ReadyForQuery the connection is cut; -1: none
	cutReady bool       // the connection is cut instead of the next ReadyForQuery
	shutdown bool       // and the server says that an administrator ends it
	after    string     // the way of the statement that was bound last, whose Execute is to come
}

// message returns a message.
func message(kind byte, body string) []byte {
	out := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return append(out, body...)
}

// refused is a statement that the server refuses when it reads it.
var refused = message(msgParse, "\x00this is refused\x00\x00\x00")

// readMessage reads a message, its type and length included.
func readMessage(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(5)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	_, err = io.ReadFull(r, whole)
	return whole, err
}

// forward forwards what the client sends, until the client or a fault ends it.
func (c *faultConn) forward() {
	defer c.server.CloseWrite()
	in, out := bufio.NewReader(c.client), bufio.NewWriter(c.server)
	head, err := in.Peek(4)
	if err != nil {
		return
	}
	if _, err := io.CopyN(out, in, int64(binary.BigEndian.Uint32(head))); err != nil { // the message without a type that begins
		return
	}
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return
			}
		}
		m, err := readMessage(in)
		if err != nil {
			return
		}
		sent, ok := c.send(m)
		if _, err := out.Write(sent); err != nil {
			return
		}
		if !ok {
			out.Flush()
			return
		}
	}
}

// field returns the text before the first NUL, and what is after it.
func field(body []byte) (text string, rest []byte) {
	before, after, _ := bytes.Cut(body, []byte{0})
	return string(before), after
}

// send returns what is sent to the server instead of a message; not ok: nothing else is sent.
func (c *faultConn) send(m []byte) (sent []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m[0] {
	case msgQuery:
		text, _ := field(m[5:])
		return c.query(m, text)
	case msgParse:
		name, rest := field(m[5:])
		c.prepared[name], _ = field(rest)
	case msgBind:
		_, rest := field(m[5:])
		name, _ := field(rest)
		return c.bind(m, c.prepared[name])
	case msgExecute:
		defer func() { c.executes++; c.after = "" }()
		switch kind, after, _ := strings.Cut(c.after, " "); {
		case after == "":
		case kind == cut:
			c.cutAt = c.executes
			return append(m, message(msgFlush, "")...), false
		default:
			c.drop, c.refuse = c.executes, kind
			return append(m, refused...), true
		}
	case msgSync:
		defer func() { c.executes, c.last = 0, "" }()
		if c.last != "" && c.status == 'I' {
			return c.sync(m)
		}
	}
	return m, true
}

// query decides on a text that is sent alone.
func (c *faultConn) query(m []byte, text string) (sent []byte, ok bool) {
	commits := strings.EqualFold(text, "commit")
	kind, when, fails := strings.Cut(c.fails(text, commits), " ")
	switch {
	case !fails:
		return m, true
	case kind == cut && when == "before":
		return nil, false
	case kind == cut, kind == adminShutdown:
		c.cutReady, c.shutdown = true, kind == adminShutdown
		return m, true
	case commits:
		c.replace, c.refuse = true, kind
		return message(msgQuery, "rollback\x00"), true
	case when == "before":
		c.refuse = kind
		return message(msgQuery, "this is refused\x00"), true
	}
	return message(msgQuery, text+"; do $$ begin raise exception 'a fault of the test' using errcode = '"+kind+"'; end $$\x00"), true
}

// bind decides on a statement.
func (c *faultConn) bind(m []byte, text string) (sent []byte, ok bool) {
	c.last = text
	way := c.fails(text, false)
	kind, when, fails := strings.Cut(way, " ")
	switch {
	case !fails:
		return m, true
	case when == "after":
		c.after = way
		return m, true
	case kind == cut:
		return nil, false
	}
	c.refuse = kind
	return refused, true
}

// sync decides on a message that commits by itself.
func (c *faultConn) sync(m []byte) (sent []byte, ok bool) {
	kind, when, fails := strings.Cut(c.fails("the commit of "+c.last, true), " ")
	switch {
	case !fails:
		return m, true
	case when == "before" && kind == cut:
		return nil, false
	case when == "after":
		c.cutReady, c.shutdown = true, kind == adminShutdown
		return m, true
	}
	c.refuse = kind
	return append(bytes.Clone(refused), m...), true
}

// answer forwards what the server answers, until it ends the connection.
func (c *faultConn) answer() {
	defer c.client.Close()
	defer c.server.Close()
	in, out := bufio.NewReader(c.server), bufio.NewWriter(c.client)
	completes := 0
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return
			}
		}
		m, err := readMessage(in)
		if err != nil {
			out.Flush()
			return
		}
		m, ok := c.received(m, &completes)
		if _, err := out.Write(m); err != nil {
			return
		}
		if !ok {
			c.server.CloseWrite()
			io.Copy(io.Discard, in)
			out.Flush()
			return
		}
	}
}

// received returns what is passed on of a message from the server; not ok: then the connection is cut.
func (c *faultConn) received(m []byte, completes *int) (passed []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m[0] {
	case msgReady:
		*completes, c.status = 0, m[5]
		switch {
		case c.cutReady && c.shutdown:
			return errorOf("FATAL", adminShutdown), false
		case c.cutReady:
			return nil, false
		}
	case msgComplete:
		at := *completes
		*completes++
		switch {
		case c.replace:
			code := c.refuse
			c.replace, c.refuse = false, ""
			return errorOf("ERROR", code), true
		case at == c.cutAt:
			return nil, false
		case at == c.drop:
			c.drop = -1
			return nil, true
		}
	case msgError:
		if c.refuse != "" {
			code := c.refuse
			c.refuse = ""
			return errorOf("ERROR", code), true
		}
	}
	return m, true
}

// errorOf returns an error as a server sends it.
func errorOf(severity, code string) []byte {
	return message(msgError, "S"+severity+"\x00V"+severity+"\x00C"+code+"\x00Ma fault of the test\x00\x00")
}
