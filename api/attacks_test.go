package api

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// attack is a raw request and what proves that it has failed.
type attack struct {
	name    string
	request string // lines end with \n, which become \r\n; {base} is the host of the server, and {users} of the server with users
	codes   []int  // the statuses of a failed attack
}

// TestAttacks sends requests that try to change something, to read secrets, to forge
// answers or to use up the server. Each request stands for a form of attack; after all
// of them the store is as it was. Texts of strangers on pages are tried by TestPagesEscape of
// package dashboard, and guesses of passwords by TestPasswordsAreRationed of package access.
func TestAttacks(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "victim", JSON: []byte(`{"note":"</script><script>alert(1)</script>"}`)}); err != nil {
		t.Fatal(err)
	}
	secret := hourbell.RawArgs{Name: "command", JSON: []byte(`{"argv":["id"],"env":{"TOKEN":"hunter2"}}`)}
	if _, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Spec{Every: "1h"}, Job: secret}); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	local := httptest.NewUnstartedServer(Handler(client, Options{Authorize: access.Local(), Commands: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	local.Config.ReadTimeout, local.Config.ReadHeaderTimeout, local.Config.MaxHeaderBytes = 500*time.Millisecond, 500*time.Millisecond, 32<<10
	local.Start()
	defer local.Close()
	users, token := usersServer(t, client)
	hosts := strings.NewReplacer("{base}", strings.TrimPrefix(local.URL, "http://"), "{users}", strings.TrimPrefix(users.URL, "http://"))

	post := func(path, body string, headers ...string) string {
		lines := []string{"POST " + path + " HTTP/1.1", "Host: {base}", "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}
		return strings.Join(append(lines, headers...), "\n") + "\nConnection: close\n\n" + body
	}
	get := func(path string, headers ...string) string {
		return strings.Join(append([]string{"GET " + path + " HTTP/1.1", "Host: {base}"}, headers...), "\n") + "\nConnection: close\n\n"
	}
	const idle = `{"kind":"planted"}`
	as := func(authorization string) string {
		return strings.Replace(get("/api/v1/jobs/1", "Authorization: "+authorization), "{base}", "{users}", 1)
	}
	login := func(to string) string {
		form := url.Values{"name": {"ada"}, "password": {password}, "to": {to}}.Encode()
		return strings.NewReplacer("{base}", "{users}", "application/json", "application/x-www-form-urlencoded").Replace(post("/login", form))
	}
	refused, unknown, invalid, missing, inside := []int{403}, []int{401}, []int{400, 413, 415, 422}, []int{400, 404, 405}, []int{303, 400}
	attacks := []attack{
		// requests that other pages send
		{"CSRF: a form of another site", post("/api/v1/jobs", idle, "Sec-Fetch-Site: cross-site"), refused},
		{"CSRF: a neighbour", post("/api/v1/jobs", idle, "Sec-Fetch-Site: same-site"), refused},
		{"CSRF: Origin of another site", post("/api/v1/jobs", idle, "Origin: https://evil.example"), refused},
		{"CSRF: null origin", post("/api/v1/jobs", idle, "Origin: null"), refused},
		{"CSRF: origin with our name as its beginning", post("/api/v1/jobs", idle, "Origin: http://127.0.0.1.evil.example"), refused},
		{"CSRF: other port", post("/api/v1/jobs", idle, "Origin: http://127.0.0.1:1"), refused},
		{"CSRF: file", post("/api/v1/jobs", idle, "Origin: file://"), refused},
		{"CSRF: deletion", strings.Replace(post("/api/v1/jobs/1", "", "Sec-Fetch-Site: cross-site"), "POST", "DELETE", 1), refused},
		{"CSRF: a change by GET", get("/api/v1/jobs/1/cancel"), missing},
		{"CSRF: a change by HEAD", strings.Replace(get("/api/v1/schedules/s/trigger"), "GET", "HEAD", 1), missing},
		{"CSRF: method in a header", get("/api/v1/jobs/1", "X-HTTP-Method-Override: DELETE"), []int{200}},
		{"CSRF: method in the query", get("/api/v1/jobs/1?_method=DELETE"), invalid},
		{"CSRF: text/plain", strings.Replace(post("/api/v1/jobs", idle), "application/json", "text/plain", 1), invalid},
		{"CSRF: form", strings.Replace(post("/api/v1/jobs", `kind=planted`), "application/json", "application/x-www-form-urlencoded", 1), invalid},
		{"CSRF: multipart", strings.Replace(post("/api/v1/jobs", `x`), "application/json", "multipart/form-data; boundary=x", 1), invalid},

		// names that lead to this computer
		{"DNS rebinding", strings.Replace(post("/api/v1/jobs", idle), "{base}", "evil.example", 1), refused},
		{"DNS rebinding: read", strings.Replace(get("/api/v1/jobs"), "{base}", "evil.example", 1), refused},
		{"DNS rebinding: a name with localhost in it", strings.Replace(get("/api/v1/jobs"), "{base}", "localhost.evil.example", 1), refused},
		{"DNS rebinding: user in Host", strings.Replace(get("/api/v1/jobs"), "{base}", "localhost@evil.example", 1), []int{400, 403}},
		{"DNS rebinding: no Host", "GET /api/v1/jobs HTTP/1.0\n\n", refused},
		{"DNS rebinding: X-Forwarded-Host", strings.Replace(get("/api/v1/jobs", "X-Forwarded-Host: localhost"), "{base}", "evil.example", 1), refused},
		{"DNS rebinding: absolute form", get("http://evil.example/api/v1/jobs"), refused},
		{"two Hosts", get("/api/v1/jobs", "Host: evil.example"), []int{400}},
		{"an open proxy before the server", get("/api/v1/jobs", "X-Forwarded-For: 192.0.2.1"), refused},

		// more rights than the role has
		{"a command", post("/api/v1/jobs", `{"kind":"command","args":{"argv":["id"]}}`), refused},
		{"a command in other letters", post("/api/v1/jobs", `{"kind":"ok","KIND":"command","args":{"argv":["id"]}}`), []int{422}},
		{"a command by the last of two keys", post("/api/v1/jobs", `{"kind":"ok","kind":"command","args":{"argv":["id"]}}`), []int{422}},
		{"a command among many", post("/api/v1/jobs/many", `{"jobs":[{"kind":"planted"},{"kind":"http","args":{"url":"http://169.254.169.254/"}}]}`), refused},
		{"a command as a hook", strings.Replace(post("/api/v1/schedules/new", `{"every":"1h","kind":"ok","on_failure":{"kind":"command","args":{"argv":["id"]}}}`), "POST", "PUT", 1), refused},
		{"a command as a handler", strings.Replace(post("/api/v1/handlers/new", `{"on":["failure"],"job":{"kind":"command","args":{"argv":["id"]}}}`), "POST", "PUT", 1), refused},
		{"another rule for a command", strings.Replace(post("/api/v1/schedules/s", `{"every":"1s","kind":"planted"}`), "POST", "PUT", 1), refused},
		{"secrets", get("/api/v1/schedules/s?secrets=true"), refused},
		{"secrets of a list", get("/api/v1/schedules?secrets=1"), refused},
		{"roles in headers", post("/api/v1/jobs", `{"kind":"command","args":{"argv":["id"]}}`, "X-Remote-User: admin", "X-Role: admin", "X-Hourbell-Role: admin"), refused},

		// tokens and sessions that are guessed
		{"no token", strings.Replace(get("/api/v1/jobs/1"), "{base}", "{users}", 1), unknown},
		{"an empty token", as("Bearer "), unknown},
		{"a guessed token", as("Bearer hourbell_" + strings.Repeat("A", 43)), unknown},
		{"the beginning of a token", as("Bearer " + token[:len(token)-1]), unknown},
		{"a token with another letter", as("Bearer " + token + "A"), unknown},
		{"a token in other letters", as("Bearer " + strings.ToUpper(token)), unknown},
		{"a token as a password", as("Basic " + base64.StdEncoding.EncodeToString([]byte("ci:"+token))), unknown},
		{"two tokens", as("Bearer x\nAuthorization: Bearer " + token), unknown},
		{"a token in the URL", strings.Replace(get("/api/v1/jobs/1?access_token="+token+"&token="+token), "{base}", "{users}", 1), unknown},
		{"a guessed session", strings.Replace(get("/api/v1/jobs/1", "Cookie: hourbell="+strings.Repeat("A", 43)), "{base}", "{users}", 1), unknown},
		{"a proxy that is not trusted", strings.Replace(get("/api/v1/jobs/1", "X-Remote-User: ada"), "{base}", "{users}", 1), unknown},

		// a log-in that leads elsewhere
		{"redirect: another host", login("https://evil.example/"), inside},
		{"redirect: two slashes", login("//evil.example/"), inside},
		{"redirect: backslashes", login(`/\evil.example`), inside},
		{"redirect: a tab", login("/\t/evil.example"), inside},
		{"redirect: a header", login("/\r\nSet-Cookie: x=1"), inside},

		// paths
		{"path: dots", get("/api/v1/../../etc/passwd"), []int{301, 307, 404}},
		{"path: escaped dots", get("/api/v1/%2e%2e/%2e%2e/etc/passwd"), missing},
		{"path: dots as a name", get("/api/v1/schedules/%2e%2e"), []int{404, 422}},
		{"path: dots as ?name=", strings.Replace(post("/api/v1/schedules?name=..", `{"every":"1h","kind":"planted"}`), "POST", "PUT", 1), invalid},
		{"path: backslash", get(`/api/v1/schedules/..\..\etc`), []int{400, 404, 422}},
		{"path: NUL", get("/api/v1/schedules/a%00b"), []int{404, 422}},
		{"path: bad escape", get("/api/v1/schedules/%zz"), []int{400}},
		{"path: bytes that are not UTF-8", get("/api/v1/schedules/%ff"), []int{404, 422}},
		{"path: double slash to another host", get("//evil.example/api/v1/jobs"), []int{301, 307, 403, 404}},
		{"path: a name and an action", post("/api/v1/schedules/pause/x?name=s", ""), missing},
		{"path: static files", get("/api/v1/testdata/openapi.json"), missing},

		// headers and logs
		{"header injection in a name", strings.Replace(post("/api/v1/schedules?name=a%0d%0aSet-Cookie:%20x=1", `{"every":"1h","kind":"planted"}`), "POST", "PUT", 1), invalid},
		{"header injection in an ETag", strings.Replace(post("/api/v1/schedules/new", `{"every":"1h","kind":"planted"}`, `If-Match: "1\r\nX: y"`), "POST", "PUT", 1), []int{412, 422}},
		{"log forging", post("/api/v1/schedules/pause?name=x%0alevel=INFO%20msg=forged", ""), []int{404, 422}},
		{"log forging by the key", post("/api/v1/jobs", `{"kind":"command"}`, "Idempotency-Key: x\tforged"), []int{403, 422}},
		{"two lengths", "POST /api/v1/jobs HTTP/1.1\nHost: {base}\nContent-Length: 5\nContent-Length: 18\nConnection: close\n\n" + idle, []int{400}},
		{"length and chunks", "POST /api/v1/jobs HTTP/1.1\nHost: {base}\nContent-Type: text/plain\nContent-Length: 4\nTransfer-Encoding: chunked\nConnection: close\n\n0\n\nGET /x", []int{400, 415, 422}},
		{"space before the colon", "GET /api/v1/jobs HTTP/1.1\nHost : {base}\nConnection: close\n\n", []int{400}},

		// bodies and queries
		{"a large body", post("/api/v1/jobs", `{"kind":"planted","args":"`+strings.Repeat("x", maxOne)+`"}`), []int{413}},
		{"large headers", get("/api/v1/jobs", "X: "+strings.Repeat("x", 64<<10)), []int{431}},
		{"a deep body", post("/api/v1/jobs", strings.Repeat("[", 100_000)), invalid},
		{"a body that does not come", "POST /api/v1/jobs HTTP/1.1\nHost: {base}\nContent-Type: application/json\nContent-Length: 1000\nConnection: close\n\n{", []int{0, 400, 408}},
		{"headers that do not end", "GET /api/v1/jobs HTTP/1.1\nHost: {base}\nX:", []int{0, 400, 408}},
		{"an array for an object", post("/api/v1/jobs", `[`+idle+`]`), invalid},
		{"a null body", post("/api/v1/jobs", `null`), invalid},
		{"two values", post("/api/v1/jobs", idle+idle), invalid},
		{"a number beyond int64", post("/api/v1/jobs/cancel", `{"ids":[99999999999999999999]}`), invalid},
		{"all jobs by an empty filter", post("/api/v1/jobs/delete", `{}`), invalid},
		{"all jobs by an unknown condition", post("/api/v1/jobs/delete", `{"al":true}`), invalid},
		{"all jobs by an empty condition", post("/api/v1/jobs/delete", `{"kind":""}`), invalid},
		{"SQL in a filter", get("/api/v1/jobs?kind=" + url.QueryEscape(`x' or '1'='1`)), []int{200}},
		{"SQL in a cursor", get("/api/v1/jobs?cursor=" + encodeCursor("1; drop table hourbell_job")), invalid},
		{"a huge page", get("/api/v1/jobs?limit=1000000"), invalid},
		{"an endless rule", strings.Replace(post("/api/v1/schedules/new", `{"cron":"0 0 30 2 *","every":"1ns","kind":"planted"}`), "POST", "PUT", 1), invalid},
		{"an interval of nothing", strings.Replace(post("/api/v1/schedules/new", `{"every":"1ns","kind":"planted"}`), "POST", "PUT", 1), invalid},
	}
	if len(attacks) < 60 {
		t.Errorf("there are %d attacks", len(attacks))
	}
	for _, a := range attacks {
		code, answer := raw(t, hosts, a.request)
		failed := false
		for _, want := range a.codes {
			failed = failed || code == want
		}
		if !failed {
			t.Errorf("%s: %d, none of %v: %.300s", a.name, code, a.codes, answer)
		}
		for _, bad := range []string{"hunter2", "\nSet-Cookie: x", "\nX:", "goroutine ", "Access-Control-Allow-Origin"} {
			if strings.Contains(answer, bad) {
				t.Errorf("%s: the answer has %q: %.300s", a.name, bad, answer)
			}
		}
		if strings.Contains(answer, "Location: http") || strings.Contains(answer, "Location: //") || strings.Contains(answer, `Location: /\`) {
			t.Errorf("%s: the answer leads to another host: %.300s", a.name, answer)
		}
	}

	// Texts of anyone are JSON, which no browser reads as a page.
	_, answer := raw(t, hosts, get("/api/v1/jobs/1", "Accept: text/html"))
	if !strings.Contains(answer, "Content-Type: application/json") || !strings.Contains(answer, "nosniff") {
		t.Errorf("arguments with a script: %s", answer)
	}
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{})
	if err != nil || len(jobs) != 1 || jobs[0].State.String() != "ready" {
		t.Errorf("an attack has changed the jobs: %+v, %v", jobs, err)
	}
	schedules, err := client.Schedules.List(t.Context(), hourbell.ScheduleFilter{})
	if err != nil || len(schedules) != 1 || schedules[0].State() != "active" || schedules[0].Rule.Every != "1h" {
		t.Errorf("an attack has changed the schedules: %+v, %v", schedules, err)
	}
	if strings.Contains(log.String(), "\nlevel=INFO msg=forged") {
		t.Errorf("an attack has forged a line of the log: %s", &log)
	}
}

// password is the password of the user of usersServer.
const password = "correct horse battery staple"

// usersServer is a server of the API with the user ada and a token, which it returns.
func usersServer(t *testing.T, client *hourbell.Client) (server *httptest.Server, token string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.json")
	err := access.EditUsers(path, func(u *access.Users) (err error) {
		if err := u.Put("ada", access.Admin, password); err != nil {
			return err
		}
		token, err = u.AddToken("ci", access.Admin, time.Now(), time.Time{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewGuard(access.Config{File: path, Trust: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, UserHeader: "X-Remote-User"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", Handler(client, Options{Authorize: guard.Authorize, Commands: true, Logger: slog.New(slog.DiscardHandler)}))
	mux.Handle("/", guard.Handler(""))
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, token
}

// raw sends a request as it is written, to the host that it names or else to {base}, and returns the status and the whole
// answer; 0: the server closed the connection without an answer.
func raw(t *testing.T, hosts *strings.Replacer, request string) (int, string) {
	t.Helper()
	to := "{base}"
	if strings.Contains(request, "{users}") {
		to = "{users}"
	}
	conn, err := net.Dial("tcp", hosts.Replace(to))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head, body, _ := strings.Cut(request, "\n\n")
	text := strings.ReplaceAll(hosts.Replace(head), "\n", "\r\n")
	if strings.Contains(request, "\n\n") {
		text += "\r\n\r\n" + body
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	go io.WriteString(conn, text) // a server that refuses early does not read all
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	var headers strings.Builder
	response.Header.Write(&headers)
	return response.StatusCode, headers.String() + "\n" + string(answer)
}
