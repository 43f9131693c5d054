package kinds

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestPublicAddresses lists addresses that jobs of other authors may, and may
// not, reach.
func TestPublicAddresses(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "192.167.1.1", "100.128.0.1", "2606:2800:220:1::1", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if !public(netip.MustParseAddr(text)) {
			t.Errorf("%s is not public", text)
		}
	}
	for _, text := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.100.100.200",
		"192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
		"64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "100::1",
	} {
		if public(netip.MustParseAddr(text)) {
			t.Errorf("%s is public", text)
		}
	}
}

// TestHTTPReachesPublicAddressesOnly checks that a job that is not declared
// reaches none of the node's own addresses, by whatever form of URL, that this
// fails it for good, and that a server there gets no connection.
func TestHTTPReachesPublicAddressesOnly(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	t.Setenv("HTTP_PROXY", server.URL) // a proxy would connect without the check
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "example.org@127.0.0.1", "example.org:80@localhost", "[::1]", "[::ffff:127.0.0.1]", "[::]", "0.0.0.0", "0", "[::127.0.0.1]", "127.1", "2130706433", "0x7f000001",
		"[64:ff9b::7f00:1]",
	} {
		job := &hourbell.JobRow{RawArgs: fmt.Appendf(nil, `{"url":"http://%s:%s/?secret=hunter2","timeout":"5s"}`, host, port)}
		err := HTTPWorker{}.Work(t.Context(), job)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", host, err)
		} else if !isFinal(err) && !strings.Contains(err.Error(), "lookup") && !strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s: %v, which is tried again", host, err)
		}
	}
	if calls.Load() > 0 {
		t.Errorf("%d calls arrived", calls.Load())
	}
	job := &hourbell.JobRow{RawArgs: fmt.Appendf(nil, `{"url":%q}`, server.URL)}
	if err := (HTTPWorker{Private: true}).Work(t.Context(), job); err != nil || calls.Load() != 1 {
		t.Errorf("with Private: %v, %d calls", err, calls.Load())
	}
	if err := (HTTPWorker{Client: &http.Client{Transport: roundTripper{}}}).Work(t.Context(), job); err == nil || !isFinal(err) {
		t.Errorf("a transport that cannot be limited: %v", err)
	}
}

type roundTripper struct{}

func (roundTripper) RoundTrip(*http.Request) (*http.Response, error) { panic("it was used") }

// rebinding is a name server that returns a public address first, and then
// addresses of this machine.
type rebinding struct{ asked atomic.Int32 }

// resolver returns a resolver that asks the server over an in-memory connection.
func (r *rebinding) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go r.serve(server)
		return client, nil
	}}
}

// serve answers queries in the form that DNS has over TCP.
func (r *rebinding) serve(conn net.Conn) {
	defer conn.Close()
	for {
		size := make([]byte, 2)
		if _, err := io.ReadFull(conn, size); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		end := 12
		for query[end] != 0 {
			end += int(query[end]) + 1
		}
		end += 5                                      // the end of the name, type and class
		answer := append([]byte(nil), query[:end]...) // header and question
		answer[2], answer[3] = 0x81, 0x80             // a response
		answer[10], answer[11] = 0, 0                 // without additional records
		if query[end-3] == 1 {                        // type A
			address := []byte{127, 0, 0, 1}
			if r.asked.Add(1) == 1 {
				address = []byte{203, 0, 114, 1}
			}
			answer[7] = 1
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			answer = append(answer, address...)
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// TestHTTPSeesThroughRebinding checks that a name that first had a public
// address, and then an address of this machine, does not lead there.
func TestHTTPSeesThroughRebinding(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	names := &rebinding{}
	resolver := names.resolver()
	if found, err := resolver.LookupHost(t.Context(), "rebind.example"); err != nil || found[0] != "203.0.114.1" {
		t.Fatalf("the first lookup: %v, %v", found, err)
	}
	job := &hourbell.JobRow{RawArgs: fmt.Appendf(nil, `{"url":"http://rebind.example:%s/"}`, port)}
	err := HTTPWorker{resolver: resolver}.Work(t.Context(), job)
	if err == nil || !isFinal(err) || !strings.Contains(err.Error(), "not public") || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("got %v", err)
	}
	if names.asked.Load() < 2 || calls.Load() > 0 {
		t.Errorf("%d lookups, %d calls", names.asked.Load(), calls.Load())
	}
}

// TestHTTPRedirects checks the bound of redirects, and what the next request has.
func TestHTTPRedirects(t *testing.T) {
	var mu sync.Mutex
	var got []*http.Request
	var bodies []string
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := io.ReadAll(r.Body)
		got, bodies = append(got, r), append(bodies, string(text))
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		if back := r.URL.Query().Get("back"); back != "" {
			http.Redirect(w, r, back, http.StatusFound)
		}
	}))
	defer other.Close()
	var here *httptest.Server
	here = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/far":
			http.Redirect(w, r, other.URL+"/end", http.StatusFound)
		case "/back":
			http.Redirect(w, r, other.URL+"/?back="+here.URL+"/end", http.StatusFound)
		case "/body":
			http.Redirect(w, r, other.URL+"/end", http.StatusTemporaryRedirect)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}
	}))
	defer here.Close()
	try := func(h HTTP) error {
		t.Helper()
		got, bodies = nil, nil
		h.URL = here.URL + h.URL
		h.Header = map[string]string{"Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "Host": "front.example"}
		args, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return HTTPWorker{Private: true}.Work(t.Context(), &hourbell.JobRow{ID: 7, RawArgs: args})
	}
	if err := try(HTTP{URL: "/near"}); err == nil || !isFinal(err) || len(got) != 1 {
		t.Errorf("without leave: %v after %d requests", err, len(got))
	}
	if err := try(HTTP{URL: "/loop", Redirects: 3}); err == nil || !isFinal(err) || !strings.Contains(err.Error(), "more redirects than 3") || len(got) != 4 {
		t.Errorf("a loop: %v after %d requests", err, len(got))
	}
	if err := try(HTTP{URL: "/near?secret=hunter2", Redirects: 1, Body: "text"}); err != nil || len(got) != 2 || bodies[1] != "text" {
		t.Fatalf("on one host: %v after %d requests with %q", err, len(got), bodies)
	}
	if r := got[1]; r.Header.Get("X-Api-Key") != "hunter2" || r.Header.Get("Referer") != "" || r.Header.Get("Idempotency-Key") != "hourbell--7" || r.Host != "front.example" {
		t.Errorf("on one host: %s %v", r.Host, r.Header)
	}
	for path, requests := range map[string]int{"/far": 2, "/back": 3} {
		if err := try(HTTP{URL: path, Redirects: 2, Method: "GET"}); err != nil || len(got) != requests {
			t.Fatalf("%s: %v after %d requests", path, err, len(got))
		}
		for _, r := range got[1:] {
			if text := fmt.Sprint(r.Header); strings.Contains(text, "hunter2") || strings.Contains(text, "Hourbell") || r.Header.Get("Idempotency-Key") != "" || r.Host == "front.example" {
				t.Errorf("%s: %s got %v", path, r.Host, r.Header)
			}
		}
	}
	if err := try(HTTP{URL: "/body", Redirects: 2, Body: "hunter2"}); err == nil || !isFinal(err) || len(got) != 1 {
		t.Errorf("a body to another host: %v after %d requests", err, len(got))
	}
	if err := try(HTTP{URL: "/file", Redirects: 2, Method: "GET"}); err == nil {
		t.Error("a file was read")
	}
}

// TestHTTPRedirectsToPublicAddresses checks that a server that a declared job
// calls cannot lead it to other private addresses.
func TestHTTPRedirectsToPublicAddresses(t *testing.T) {
	var calls atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer other.Close()
	for name, to := range map[string]string{"metadata": "http://169.254.169.254/latest", "another port": other.URL} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/near" {
				http.Redirect(w, r, "/far", http.StatusFound)
			} else {
				http.Redirect(w, r, to, http.StatusFound)
			}
		}))
		err := attempt(t, HTTP{URL: server.URL + "/near", Redirects: 5, Method: "GET"}, true)
		server.Close()
		if !strings.Contains(err, "not public") || calls.Load() > 0 {
			t.Errorf("%s: %q, %d calls", name, err, calls.Load())
		}
	}
	if err := attempt(t, HTTP{URL: other.URL, Method: "GET"}, true); err != "" || calls.Load() != 1 {
		t.Errorf("a declared job: %q, %d calls", err, calls.Load())
	}
	if err := attempt(t, HTTP{URL: other.URL, Method: "GET"}, false); !strings.Contains(err, "not public") || calls.Load() != 1 {
		t.Errorf("a job that is not declared: %q, %d calls", err, calls.Load())
	}
}

// attempt runs a job on a node that declares it, or not, and returns the error
// of its attempt.
func attempt(t *testing.T, h HTTP, declared bool) string {
	t.Helper()
	workers := hourbell.NewWorkers()
	workers.Handle(HTTPKind, HTTPWorker{}.Work)
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if declared {
		if err := client.Allow(hourbell.Schedule{Job: h}); err != nil {
			t.Fatal(err)
		}
	}
	ran := make(chan error, 1)
	go func() { ran <- client.Run(context.Background()) }()
	defer func() {
		_ = client.Stop(context.Background())
		<-ran
	}()
	job, err := client.Enqueue(t.Context(), h, hourbell.MaxAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		info, err := client.Jobs.Get(t.Context(), job.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch info.State {
		case store.StateCompleted:
			return ""
		case store.StateFailed:
			return info.Reason
		}
	}
	t.Fatal("the job did not end")
	return ""
}
