package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// apiAddress returns the address of the API of a process.
func (p *process) apiAddress() string {
	p.t.Helper()
	p.awaits("pages and API answered", 1)
	_, rest, _ := strings.Cut(p.logged(), "pages and API answered")
	_, rest, _ = strings.Cut(rest, "address=")
	address, _, _ := strings.Cut(rest, " ")
	return address
}

// call returns the status and the body of an answer; headers are pairs of name and
// value, and the name Host is the host of the request.
func call(t *testing.T, client *http.Client, method, target, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestServeForThisComputer checks a node without users: callers of this computer are
// operators, and no caller makes a command.
func TestServeForThisComputer(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	p := b.serve("--listen", "127.0.0.1:0", "--commands", "any", "--name", "tower")
	base := "http://" + p.apiAddress()
	eventually(t, "the node is ready", func() bool {
		code, _ := call(t, http.DefaultClient, "GET", base+"/readyz", "")
		return code == http.StatusOK
	})
	const command = `{"kind":"command","args":{"argv":["true"]}}`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		code               int
		has                string
	}{
		{"GET", "/", "", nil, 200, "<html"},
		{"POST", "/change-jobs", "", []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"GET", "/nope", "", nil, 404, ""},
		{"GET", "/healthz", "", nil, 200, "ok"},
		{"GET", "/api/openapi.json", "", nil, 200, `"openapi":"3.1.0"`},
		{"GET", "/api/v1/nodes", "", nil, 200, `"name":"tower"`},
		{"GET", "/api/v1/nodes", "", []string{"Host", "evil.example"}, 403, "loopback"},
		{"GET", "/", "", []string{"Host", "evil.example"}, 403, ""},
		{"POST", "/api/v1/jobs", `{"kind":"idle"}`, []string{"Host", "evil.example:80"}, 403, "loopback"},
		{"POST", "/api/v1/jobs", `{"kind":"idle"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, "origin"},
		{"POST", "/api/v1/jobs", `{"kind":"idle"}`, []string{"Origin", "https://evil.example"}, 403, "origin"},
		{"POST", "/api/v1/jobs", `{"kind":"idle"}`, nil, 201, `"id":1`},
		{"POST", "/api/v1/jobs", command, nil, 403, "admin"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"command","args":{"shell":"true"}}`, nil, 403, "admin"},
		{"GET", "/api/v1/jobs/1?secrets=true", "", nil, 403, "admin"},
	} {
		if code, body := call(t, http.DefaultClient, c.method, base+c.path, c.body, c.headers...); code != c.code || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %s %q: %d %s, not %d with %q", c.method, c.path, c.body, c.headers, code, body, c.code, c.has)
		}
	}
	if jobs := b.objects("jobs", "list"); len(jobs) != 1 || jobs[0]["kind"] != "idle" {
		t.Errorf("jobs %v", jobs)
	}
}

// TestServeForUsers checks a node with users, tokens and TLS.
func TestServeForUsers(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.stdin = "correct horse\n"
	equal(t, "add", b.ok("auth", "add", "ada", "--role", "admin", "--auth", "users.json"), "user \"ada\": admin\n")
	tokens := map[string]string{}
	for _, role := range []string{"viewer", "operator", "admin"} {
		tokens[role] = strings.TrimSpace(b.ok("auth", "token", role+"-token", "--role", role, "--expires", "1h", "--auth", "users.json"))
	}
	if list := b.objects("auth", "list", "--auth", "users.json"); len(list) != 4 || list[0]["name"] != "ada" || list[0]["role"] != "admin" || list[1]["type"] != "token" || list[1]["expires_at"] == nil {
		t.Errorf("users %v", list)
	}
	client := testCertificate(t)
	for _, c := range []struct {
		flags []string
		code  int // of an admin who makes a command
	}{{[]string{"--commands", "any"}, 201}, {nil, 403}} {
		p := b.serve(append([]string{"--listen", "127.0.0.1:0", "--auth", "users.json", "--tls-cert", "cert.pem", "--tls-key", "key.pem"}, c.flags...)...)
		base := "https://" + p.apiAddress()
		eventually(t, "the node is ready", func() bool {
			code, _ := call(t, client, "GET", base+"/readyz", "")
			return code == http.StatusOK
		})
		as := func(role string) []string { return []string{"Authorization", "Bearer " + tokens[role]} }
		for _, c := range []struct {
			method, path, body string
			headers            []string
			code               int
		}{
			{"GET", "/api/v1/jobs", "", nil, 401},
			{"GET", "/api/v1/jobs", "", []string{"Authorization", "Bearer hourbell_guess"}, 401},
			{"GET", "/api/v1/jobs?token=" + tokens["admin"], "", nil, 401},
			{"GET", "/", "", nil, 303},
			{"GET", "/", "", as("viewer"), 200},
			{"GET", "/login", "", nil, 200},
			{"GET", "/healthz", "", nil, 200},
			{"GET", "/api/v1/jobs", "", as("viewer"), 200},
			{"POST", "/api/v1/jobs", `{"kind":"idle"}`, as("viewer"), 403},
			{"POST", "/api/v1/jobs", `{"kind":"idle"}`, as("operator"), 201},
			{"POST", "/api/v1/jobs", `{"kind":"command","args":{"argv":["true"]}}`, as("operator"), 403},
			{"POST", "/api/v1/jobs", `{"kind":"command","args":{"argv":["true"]}}`, as("admin"), c.code},
		} {
			if code, body := call(t, client, c.method, base+c.path, c.body, c.headers...); code != c.code {
				t.Errorf("%s %s %s: %d %s, not %d", c.method, c.path, c.body, code, body, c.code)
			}
		}
		if c.code == 201 {
			checkSession(t, client, base)
		}
		if logged := p.logged(); strings.Contains(logged, tokens["admin"]) || strings.Contains(logged, "correct horse") {
			t.Error("the log has a secret")
		}
	}
	b.ok("auth", "remove", "operator-token", "--auth", "users.json")
	b.fails(exitFailed, []string{"neither a user nor a token"}, "auth", "remove", "operator-token", "--auth", "users.json")
}

// TestServeBehindATLSProxy checks a node with users behind a proxy that has the certificate: attempts to log in are
// rationed for each client of the proxy, whatever the client says about itself.
func TestServeBehindATLSProxy(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.stdin = "correct horse\n"
	b.ok("auth", "add", "ada", "--role", "operator", "--auth", "users.json")
	p := b.serve("--listen", "127.0.0.1:0", "--auth", "users.json", "--trust-proxy", "127.0.0.1")
	node, err := url.Parse("http://" + p.apiAddress())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(node)
		r.Out.Host = r.In.Host
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"] // as most proxies do: they append
		r.SetXForwarded()
	}})
	defer proxy.Close()
	client := func(from string) *http.Client { // a browser on another computer
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := proxy.Client().Transport.(*http.Transport).Clone()
		transport.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext
		return &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	logIn := func(c *http.Client, password, says string) int {
		t.Helper()
		code, _ := call(t, c, "POST", proxy.URL+"/login", url.Values{"name": {"ada"}, "password": {password}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", says, "Origin", proxy.URL, "Sec-Fetch-Site", "same-origin")
		return code
	}
	guesser, ada := client("127.0.0.2"), client("127.0.0.3")
	codes := map[int]int{}
	for i := range 8 {
		codes[logIn(guesser, "wrong", fmt.Sprintf("203.0.113.%d", i))]++
	}
	// On a slow machine, the log-ins take so long that another try is allowed.
	if codes[http.StatusUnauthorized] < 5 || codes[http.StatusTooManyRequests] == 0 || len(codes) != 2 {
		t.Errorf("the answers to a client that guesses: %v", codes)
	}
	if code := logIn(ada, "correct horse", "127.0.0.2"); code != http.StatusSeeOther {
		t.Errorf("the log-in of another client: %d", code)
	}
	if cookies := ada.Jar.Cookies(&url.URL{Scheme: "https", Host: proxy.Listener.Addr().String()}); len(cookies) != 1 || !strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("cookies %v, not one that is only sent with TLS", cookies)
	}
	if code, body := call(t, ada, "POST", proxy.URL+"/api/v1/jobs", `{"kind":"idle"}`, "Origin", proxy.URL); code != http.StatusCreated {
		t.Errorf("with the session: %d %s", code, body)
	}
	if !strings.Contains(p.logged(), "source=session from=127.0.0.3") {
		t.Error("the log does not have the address of the client")
	}
}

// checkSession logs in with a password.
func checkSession(t *testing.T, client *http.Client, base string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Transport: client.Transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := func(password string) (int, string) {
		return call(t, browser, "POST", base+"/login", url.Values{"name": {"ada"}, "password": {password}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	if code, _ := form("wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", code)
	}
	if code, body := form("correct horse"); code != http.StatusSeeOther {
		t.Errorf("the log-in: %d %s", code, body)
	}
	if code, body := call(t, browser, "GET", base+"/api/v1/jobs", ""); code != http.StatusOK {
		t.Errorf("with the session: %d %s", code, body)
	}
	if code, _ := call(t, browser, "POST", base+"/api/v1/jobs", `{"kind":"idle"}`, "Sec-Fetch-Site", "cross-site"); code != http.StatusForbidden {
		t.Errorf("a page of another site uses the session: %d", code)
	}
}

// testCertificate writes cert.pem and key.pem and returns a client that trusts them.
func testCertificate(t *testing.T) *http.Client {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		var text bytes.Buffer
		if err := pem.Encode(&text, block); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(certificate)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
