package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/hourbell/hourbell/check"
)

// usersFile writes a file with an operator, an admin with a bcrypt hash, and a token
// of each role; the names of the tokens are the names of their roles with -token.
func usersFile(t *testing.T) (path string, tokens map[Role]string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "users.json")
	tokens = map[Role]string{}
	err := EditUsers(path, func(u *Users) error {
		if err := u.Put("olga", Operator, "correct horse"); err != nil {
			return err
		}
		hash, err := bcrypt.GenerateFromPassword([]byte("battery staple"), bcrypt.MinCost)
		u.Users = append(u.Users, User{Name: "adam", Role: Admin, Password: string(hash)})
		for _, role := range Roles() {
			if tokens[role], err = u.AddToken(role.String()+"-token", role, time.Now(), time.Time{}); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path, tokens
}

func newGuard(t *testing.T, cfg Config) *Guard {
	t.Helper()
	cfg.Report = func(err error) { t.Log("reported:", err) }
	g, err := NewGuard(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// who answers with the identity of the caller.
var who = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	id, _ := FromContext(r.Context())
	fmt.Fprintf(w, "%s %v %s", id.Name, id.Role, id.Source)
})

// send returns the answer of a handler to a request that comes from a loopback
// address unless change gives it another address.
func send(h http.Handler, method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr = "127.0.0.1:4711"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestLocalCallersAreOperatorsOfLoopbackNamesOnly(t *testing.T) {
	h := Protect(who, Options{Authorize: Local()})
	for _, c := range []struct {
		host, from, header string
		want               int
	}{
		{"localhost:8080", "127.0.0.1:1", "", 200},
		{"LOCALHOST.", "127.0.0.1:1", "", 200},
		{"hourbell.localhost:80", "[::1]:1", "", 200},
		{"127.0.0.1:8080", "127.0.0.2:1", "", 200},
		{"[::1]:8080", "[::1]:1", "", 200},
		{"[::ffff:127.0.0.1]:8080", "[::ffff:127.0.0.1]:1", "", 200},
		{"evil.example:8080", "127.0.0.1:1", "", 403},
		{"localhost.evil.example", "127.0.0.1:1", "", 403},
		{"evillocalhost", "127.0.0.1:1", "", 403},
		{"127.0.0.1.evil.example", "127.0.0.1:1", "", 403},
		{"", "127.0.0.1:1", "", 403},
		{"0.0.0.0:8080", "127.0.0.1:1", "", 403},
		{"localhost", "192.0.2.1:1", "", 403},
		{"localhost", "", "", 403},
		{"localhost", "127.0.0.1:1", "X-Forwarded-For", 403},
		{"localhost", "127.0.0.1:1", "Forwarded", 403},
		{"localhost", "127.0.0.1:1", "X-Real-IP", 403},
	} {
		w := send(h, "GET", "/", func(r *http.Request) {
			r.Host, r.RemoteAddr = c.host, c.from
			if c.header != "" {
				r.Header.Set(c.header, "192.0.2.1")
			}
		})
		if w.Code != c.want || (c.want == 200 && w.Body.String() != " operator local") {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestProtectWithoutAuthorizeOnlyReads(t *testing.T) {
	if w := send(Protect(who, Options{}), "GET", "/", nil); w.Body.String() != " viewer " {
		t.Errorf("without Authorize: %s", w.Body)
	}
	outer := func(*http.Request) (Identity, error) { return Identity{Name: "ann", Role: Admin, Source: "own"}, nil }
	if w := send(Protect(Protect(who, Options{}), Options{Authorize: outer}), "GET", "/", nil); w.Body.String() != "ann admin own" {
		t.Errorf("within another Protect: %s", w.Body)
	}
}

func TestProtectRefuses(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.1: password=hunter2")
	answer := func(id Identity, err error) Authorize {
		return func(*http.Request) (Identity, error) { return id, err }
	}
	ann := Identity{Name: "ann", Role: Operator}
	for name, c := range map[string]struct {
		authorize Authorize
		method    string
		header    [2]string
		want      int
	}{
		"an unknown caller":              {answer(Identity{}, ErrUnknownCaller), "GET", [2]string{}, 401},
		"an error of the program":        {answer(Identity{}, secret), "GET", [2]string{}, 503},
		"a caller without a role":        {answer(Identity{Name: "ann"}, nil), "GET", [2]string{}, 403},
		"a post of another site":         {answer(ann, nil), "POST", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a post of a neighbour":          {answer(ann, nil), "POST", [2]string{"Sec-Fetch-Site", "same-site"}, 403},
		"a put of another origin":        {answer(ann, nil), "PUT", [2]string{"Origin", "https://evil.example"}, 403},
		"a deletion of a null origin":    {answer(ann, nil), "DELETE", [2]string{"Origin", "null"}, 403},
		"a post of the same origin":      {answer(ann, nil), "POST", [2]string{"Origin", "http://example.com"}, 200},
		"a post of a program":            {answer(ann, nil), "POST", [2]string{}, 200},
		"a read from another site":       {answer(ann, nil), "GET", [2]string{"Sec-Fetch-Site", "cross-site"}, 200},
		"a post by a bookmark or a user": {answer(ann, nil), "POST", [2]string{"Sec-Fetch-Site", "none"}, 200},
	} {
		w := send(Protect(who, Options{Authorize: c.authorize}), c.method, "http://example.com/", func(r *http.Request) {
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
		})
		if w.Code != c.want {
			t.Errorf("%s: %d %s, not %d", name, w.Code, w.Body, c.want)
		}
		if strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: the answer has the details of the error: %s", name, w.Body)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store"} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", name, csp)
		}
	}
}

func TestProtectBoundsTheBody(t *testing.T) {
	var read error
	h := Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, read = new(strings.Builder), r.ParseForm()
	}), Options{MaxBody: 10})
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("a="+strings.Repeat("x", 20)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	h.ServeHTTP(httptest.NewRecorder(), r)
	var tooLarge *http.MaxBytesError
	if !errors.As(read, &tooLarge) {
		t.Errorf("a body of 22 bytes is read: %v", read)
	}
}

func TestTokens(t *testing.T) {
	path, tokens := usersFile(t)
	var expired string
	err := EditUsers(path, func(u *Users) (err error) {
		expired, err = u.AddToken("old", Admin, time.Now(), time.Now().Add(-time.Second))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h := Protect(who, Options{Authorize: newGuard(t, Config{File: path}).Authorize})
	with := func(header string) *httptest.ResponseRecorder {
		return send(h, "GET", "/", func(r *http.Request) { r.Header.Set("Authorization", header) })
	}
	for role, token := range tokens {
		if w := with("Bearer " + token); w.Body.String() != fmt.Sprintf("%v-token %v token", role, role) {
			t.Errorf("the token of %v gives %d %s", role, w.Code, w.Body)
		}
		if w := send(h, "GET", "/?token="+token+"&access_token="+token, nil); w.Code != 401 {
			t.Errorf("a token in the URL gives %d", w.Code)
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), token) {
			t.Errorf("the file has the token itself, or %v", err)
		}
	}
	for _, header := range []string{"Bearer " + expired, "Bearer ", "Bearer x", "bearer", "Basic " + tokens[Admin], tokens[Admin], "Bearer " + digest(tokens[Admin]), "Bearer " + tokens[Admin][:20], "Bearer  " + tokens[Admin] + "x"} {
		if w := with(header); w.Code != 401 || !strings.Contains(w.Header().Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("Authorization %q gives %d", header, w.Code)
		}
	}
}

// logIn sends the form of the log-in and returns the answer.
func logIn(g *Guard, name, password, to string, change func(*http.Request)) *httptest.ResponseRecorder {
	form := url.Values{"name": {name}, "password": {password}, "to": {to}}
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.Handler("").ServeHTTP(w, r)
	return w
}

func TestASessionLastsUntilTheLogOutOrAChangeOfTheUser(t *testing.T) {
	path, _ := usersFile(t)
	g := newGuard(t, Config{File: path})
	h := Protect(who, Options{Authorize: g.Authorize})
	begin := func(name, password string) *http.Cookie {
		t.Helper()
		w := logIn(g, name, password, "/jobs?state=failed", nil)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/jobs?state=failed" || len(w.Result().Cookies()) != 1 {
			t.Fatalf("the log-in of %s gives %d, Location %q", name, w.Code, w.Header().Get("Location"))
		}
		return w.Result().Cookies()[0]
	}
	see := func(c *http.Cookie) string {
		return send(h, "GET", "/", func(r *http.Request) { r.AddCookie(c) }).Body.String()
	}
	adam := begin("adam", "battery staple")
	if !adam.HttpOnly || adam.SameSite != http.SameSiteStrictMode || adam.Secure || adam.Path != "/" {
		t.Errorf("the cookie without TLS is %+v", adam)
	}
	if got := see(adam); got != "adam admin session" {
		t.Errorf("after the log-in: %s", got)
	}
	send(g.Handler(""), "POST", "/logout", func(r *http.Request) { r.AddCookie(adam) })
	if got := see(adam); got == "adam admin session" {
		t.Error("the session lives after the log-out")
	}
	olga := begin("olga", "correct horse")
	if got := see(olga); got != "olga operator session" {
		t.Errorf("after the log-in: %s", got)
	}
	if err := EditUsers(path, func(u *Users) error { return u.Put("olga", Viewer, "another password") }); err != nil {
		t.Fatal(err)
	}
	if got := see(olga); strings.Contains(got, "olga") {
		t.Errorf("the session lives after a change of the user: %s", got)
	}
	if w := logIn(g, "olga", "correct horse", "", nil); w.Code != 401 {
		t.Errorf("the old password gives %d", w.Code)
	}
}

func TestTheCookieIsSecureWithTLS(t *testing.T) {
	path, _ := usersFile(t)
	w := logIn(newGuard(t, Config{File: path}), "adam", "battery staple", "", func(r *http.Request) { r.TLS = &tls.ConnectionState{} })
	if c := w.Result().Cookies()[0]; !c.Secure || !strings.HasPrefix(c.Name, "__Host-") {
		t.Errorf("the cookie is %+v", c)
	}
}

func TestALogInLeadsToThisServerOnly(t *testing.T) {
	for _, to := range []string{
		"https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "", "jobs", "/%2f/evil.example\r\nX: y",
		"/\tevil", "http:/evil", "//", "/\n/evil.example", "https:evil.example", "/%09/evil.example\t",
	} {
		if got := local(to, ""); got != "/" {
			t.Errorf("local(%q) = %q", to, got)
		}
	}
	for to, want := range map[string]string{"/jobs?x=1#y": "/jobs?x=1#y", "/ops/jobs": "/ops/jobs"} {
		if got := local(to, ""); got != want {
			t.Errorf("local(%q) = %q", to, got)
		}
	}
	if got := local("/other", "/ops"); got != "/ops/" {
		t.Errorf("a page outside the prefix: %q", got)
	}
}

func TestPasswordsAreRationed(t *testing.T) {
	path, _ := usersFile(t)
	g := newGuard(t, Config{File: path})
	codes := map[int]int{}
	for range 3 * triesAtOnce {
		codes[logIn(g, "adam", "wrong", "", nil).Code]++
	}
	if codes[401] != triesAtOnce || codes[429] != 2*triesAtOnce {
		t.Errorf("answers %v", codes)
	}
	if w := logIn(g, "adam", "battery staple", "", nil); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the right password after too many attempts gives %d", w.Code)
	}
	if w := logIn(g, "adam", "battery staple", "", func(r *http.Request) { r.RemoteAddr = "198.51.100.7:1" }); w.Code != 303 {
		t.Errorf("from another address: %d", w.Code)
	}
	var r ration
	now := time.Now()
	first, second := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for range triesAtOnce {
		r.take(first, now)
	}
	if r.take(second, now) {
		t.Error("another address of the same /64 has attempts of its own")
	}
	if !r.take(second, now.Add(tryEvery)) || r.take(second, now.Add(tryEvery)) {
		t.Error("one attempt must be allowed after a while")
	}
}

// TestOneCallerLocksOutNoOther checks attempts behind a trusted proxy, and a caller with more addresses than are
// remembered.
func TestOneCallerLocksOutNoOther(t *testing.T) {
	path, _ := usersFile(t)
	var reported []string
	g, err := NewGuard(Config{File: path, Trust: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Report: func(err error) { reported = append(reported, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	through := func(proxy, password string, forwarded ...string) *httptest.ResponseRecorder {
		return logIn(g, "adam", password, "", func(r *http.Request) {
			r.RemoteAddr = proxy
			r.Header["X-Forwarded-For"] = forwarded
			r.Header.Set("X-Forwarded-Proto", "https")
		})
	}
	for i := range triesAtOnce {
		through("10.1.0.1:1", "wrong", fmt.Sprintf("203.0.113.%d, 192.0.2.1", i)) // the client chooses what stands first
	}
	if w := through("10.1.0.1:1", "battery staple", "192.0.2.1"); w.Code != 429 {
		t.Errorf("a client that has used up its attempts: %d", w.Code)
	}
	if w := through("10.1.0.1:1", "battery staple", "192.0.2.2"); w.Code != 303 || !w.Result().Cookies()[0].Secure {
		t.Errorf("another client of the proxy: %d, cookies %v", w.Code, w.Result().Cookies())
	}
	if len(reported) != 0 {
		t.Errorf("reported %q", reported)
	}
	for range 2 {
		if w := through("198.51.100.1:1", "battery staple", "192.0.2.3"); w.Code != 303 || w.Result().Cookies()[0].Secure {
			t.Errorf("a proxy that is not trusted: %d, cookies %v", w.Code, w.Result().Cookies())
		}
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "--trust-proxy 198.51.100.1") {
		t.Errorf("reported %q", reported)
	}

	var r ration
	now := time.Now()
	first := netip.MustParseAddr("10.0.0.0")
	for addr, i := first, 0; i < mostTriers; addr, i = addr.Next(), i+1 {
		r.take(addr, now)
	}
	other := netip.MustParseAddr("192.0.2.9")
	for range triesAtOnce {
		if !r.take(other, now) {
			t.Fatal("a caller is locked out by the attempts of others")
		}
	}
	if r.take(other, now) || len(r.next) > mostTriers {
		t.Errorf("%d callers are remembered, and one has more attempts than others", len(r.next))
	}
}

func TestAProxyNamesTheCaller(t *testing.T) {
	path, _ := usersFile(t)
	g := newGuard(t, Config{File: path, Trust: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, UserHeader: "X-Remote-User"})
	h := Protect(who, Options{Authorize: g.Authorize})
	for _, c := range []struct {
		from  string
		names []string
		want  string
	}{
		{"10.1.2.3:1", []string{"olga"}, "olga operator proxy"},
		{"10.1.2.3:1", []string{"new"}, "new viewer proxy"},
		{"[::ffff:10.1.2.3]:1", []string{"olga"}, "olga operator proxy"},
		{"10.2.2.3:1", []string{"olga"}, ""},
		{"127.0.0.1:1", []string{"adam"}, ""},
		{"10.1.2.3:1", []string{"olga", "adam"}, ""},
		{"10.1.2.3:1", []string{""}, ""},
		{"10.1.2.3:1", []string{"admin-token"}, "admin-token viewer proxy"}, // tokens are not users
	} {
		w := send(h, "GET", "/", func(r *http.Request) {
			r.RemoteAddr = c.from
			for _, name := range c.names {
				r.Header.Add("x-remote-user", name)
			}
		})
		if got := w.Body.String(); (c.want == "" && w.Code != 401) || (c.want != "" && got != c.want) {
			t.Errorf("%+v: %d %s", c, w.Code, got)
		}
	}
}

func TestTheFileIsReadAgain(t *testing.T) {
	path, tokens := usersFile(t)
	g := newGuard(t, Config{File: path})
	if _, err := g.byToken(tokens[Viewer], time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := EditUsers(path, func(u *Users) error { u.Remove("viewer-token"); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := g.byToken(tokens[Viewer], time.Now()); err == nil {
		t.Error("a removed token is accepted")
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.byToken(tokens[Admin], time.Now()); err != nil {
		t.Errorf("a broken file ends the access of known users: %v", err)
	}
	if _, err := g.byToken(tokens[Viewer], time.Now()); err == nil {
		t.Error("a broken file brings a removed token back")
	}
}

func TestFilesOfUsers(t *testing.T) {
	hash, err := hashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "{", "[]", `{"users":[]} x`, `{"people":[]}`,
		`{"users":[{"name":"","role":"admin","password":"` + hash + `"}]}`,
		`{"users":[{"name":"a","role":"root","password":"` + hash + `"}]}`,
		`{"users":[{"name":"a","password":"` + hash + `"}]}`,
		`{"users":[{"name":"a","role":"admin","password":"plain"}]}`,
		`{"users":[{"name":"a","role":"admin","password":"$argon2id$v=19$m=99999999,t=2,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5"}]}`,
		`{"users":[{"name":"a","role":"admin","password":"` + hash + `"},{"name":"a","role":"viewer","password":"` + hash + `"}]}`,
		`{"tokens":[{"name":"a","role":"admin","sha256":"00"}]}`,
		strings.Repeat(" ", maxUsersFile+1),
	} {
		path := filepath.Join(t.TempDir(), "users.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var field *check.FieldError
		if _, err := ReadUsers(path); !errors.As(err, &field) {
			t.Errorf("%.100s: %v", text, err)
		}
		if err := EditUsers(path, func(*Users) error { return nil }); err == nil {
			t.Errorf("%.100s is overwritten", text)
		}
	}
	path, _ := usersFile(t)
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o620); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUsers(path); runtime.GOOS != "windows" && err == nil {
		t.Error("a file that others may write is read")
	}
}

func TestNamesAndPasswordsOfUsers(t *testing.T) {
	u := &Users{}
	for _, password := range []string{"", "1234567", strings.Repeat("x", maxPassword+1)} {
		if err := u.Put("a", Viewer, password); err == nil {
			t.Errorf("a password of %d bytes is accepted", len(password))
		}
	}
	for _, name := range []string{"", " a", "a\nb", "..", "a\x1b[0m"} {
		if err := u.Put(name, Viewer, "12345678"); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
	if _, err := u.AddToken("ci", Viewer, time.Now(), time.Time{}); err != nil {
		t.Error(err)
	}
	if err := u.Put("ci", Viewer, "12345678"); err == nil {
		t.Error("a user has the name of a token")
	}
	if _, err := u.AddToken("ci", Admin, time.Now(), time.Time{}); err == nil {
		t.Error("a token replaces another")
	}
	if !u.Remove("ci") || u.Remove("ci") {
		t.Error("Remove does not report what it found")
	}
	one, err := hashPassword("same password")
	two, _ := hashPassword("same password")
	if err != nil || one == two || !verifyPassword(one, "same password") || verifyPassword(one, "Same password") {
		t.Errorf("hashes %q and %q, %v", one, two, err)
	}
	if checkHash(unknownUser) != nil || verifyPassword(unknownUser, "") {
		t.Error("the hash for unknown users is not a hash")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	var s sessions
	now := time.Now()
	first := s.begin(User{Name: "first"}, now)
	for range mostSessions {
		s.begin(User{Name: "later"}, now.Add(time.Second))
	}
	if _, ok := s.find(first, now); ok || len(s.byID) > mostSessions {
		t.Errorf("%d sessions, the oldest lives: %v", len(s.byID), ok)
	}
	last := s.begin(User{}, now)
	if _, ok := s.find(last, now.Add(sessionTime)); ok {
		t.Error("a session does not end")
	}
}

// TestAddress checks from where a request came: only what trusted proxies have appended counts.
func TestAddress(t *testing.T) {
	path, _ := usersFile(t)
	g := newGuard(t, Config{File: path, Trust: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, UserHeader: "X-Remote-User"})
	h := Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := FromContext(r.Context())
		fmt.Fprint(w, id.Address)
	}), Options{Authorize: func(r *http.Request) (Identity, error) {
		id, _ := g.Authorize(r)
		id.Role = Viewer
		return id, nil
	}})
	for _, c := range []struct {
		from      string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:1", nil, "192.0.2.7"},
		{"192.0.2.7:1", []string{"198.51.100.1"}, "192.0.2.7"},
		{"10.1.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.1.0.1:1", []string{"203.0.113.9, 198.51.100.1", "10.1.0.2"}, "198.51.100.1"},
		{"10.1.0.1:1", []string{"203.0.113.9, evil\x1b"}, "10.1.0.1"},
		{"10.1.0.1:1", nil, "10.1.0.1"},
		{"[::ffff:10.1.0.1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
	} {
		w := send(h, "GET", "/", func(r *http.Request) {
			r.RemoteAddr = c.from
			for _, text := range c.forwarded {
				r.Header.Add("X-Forwarded-For", text)
			}
		})
		if got := w.Body.String(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
