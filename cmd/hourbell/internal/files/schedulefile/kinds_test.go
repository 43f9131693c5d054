package schedulefile

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/internal/declared"
)

// TestReadHTTP checks the key http, and that its values do not appear in
// messages.
func TestReadHTTP(t *testing.T) {
	set, err := Read("x.yaml", []byte(`schedules:
  - name: a
    every: 1h
    http: {url: "https://a.example/x?y=1", method: PUT, header: {A: "1"}, body: '{"b": 2}', timeout: 90s, retry: [404, 5xx], redirects: 2}
    timeout: 5m
    on_failure: {url: "https://a.example", timeout: 5s, retry: [none], redirects: 1}
  - {name: b, every: 1h, http: {url: "http://b", retry: "429"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`http {"url":"https://a.example/x?y=1","method":"PUT","header":{"A":"1"},"body":"{\"b\": 2}","timeout":"1m30s","retry":["404","5xx"],"redirects":2}`,
		`http {"url":"http://b","retry":["429"]}`,
	} {
		job := declared.Raw(set.Entries[i].Job)
		if got := job.Name + " " + string(job.JSON); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const hook = `{"url":"https://a.example","timeout":"5s","retry":["none"],"redirects":1}`
	if got := string(declared.Raw(set.Entries[0].Hooks.OnFailure).JSON); got != hook {
		t.Errorf("the hook is %s, want %s", got, hook)
	}
	if back := readBack(t, set); string(declared.Raw(back.Entries[0].Hooks.OnFailure).JSON) != hook ||
		string(declared.Raw(back.Entries[0].Job).JSON) != string(declared.Raw(set.Entries[0].Job).JSON) {
		t.Errorf("read back: %+v", back.Entries[0])
	}
	for text, want := range map[string]string{
		`http: https://hunter2`:                         `http is a single value`,
		`http: {}`:                                      `http: url is not an http or https URL`,
		`http: {url: "ftp://hunter2"}`:                  `http: url is not an http or https URL`,
		`http: {url: "http://a", verb: GET}`:            `http: verb is not a key here`,
		`http: {url: "http://a", timeout: 5}`:           `http: timeout: "5" is not a positive duration`,
		`http: {url: "http://a", retry: [200]}`:         `http: retry is not a status`,
		`http: {url: "http://a", redirects: 11}`:        `http: redirects: "11" is not a number in the allowed range`,
		`http: {url: "http://a"}, env: {A: b}`:          `env has no meaning with http`,
		`http: {url: "http://a"}, args: 1`:              `args has no meaning without kind`,
		`http: {url: "http://a"}, shell: date`:          `http is given besides shell`,
		`kind: http, args: {url: "http://a", verb: 1}`:  `args are not an HTTP request: unknown field "verb"`,
		`kind: http, args: {url: "http://a", body: 12}`: `args are not an HTTP request`,
	} {
		_, err := Read("x.yaml", []byte("schedules:\n  - {name: a, every: 1h, "+text+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestReadSQL checks the key sql.
func TestReadSQL(t *testing.T) {
	set, err := Read("x.yaml", []byte(`schedules:
  - name: a
    every: 1h
    sql:
      connection: reports
      statement: insert into t values ($1, $2, $3, $4, $5)
      args: ["a; b", 7, 1.50, {job: token}, null]
      timeout: 90s
  - {name: b, every: 1h, kind: sql, args: {connection: r, statement: select 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`sql {"connection":"reports","statement":"insert into t values ($1, $2, $3, $4, $5)","args":["a; b",7,1.50,{"job":"token"},null],"timeout":"1m30s"}`,
		`sql {"connection":"r","statement":"select 1"}`,
	} {
		job := declared.Raw(set.Entries[i].Job)
		if got := job.Name + " " + string(job.JSON); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if back := readBack(t, set); string(declared.Raw(back.Entries[0].Job).JSON) != string(declared.Raw(set.Entries[0].Job).JSON) {
		t.Errorf("read back: %s", declared.Raw(back.Entries[0].Job).JSON)
	}
	for text, want := range map[string]string{
		`sql: select 1`:                                                        `sql is a single value`,
		`sql: {connection: r}`:                                                 `sql: statement is empty`,
		`sql: {statement: select 1}`:                                           `sql: connection is empty`,
		`sql: {connection: r, statement: commit}`:                              `sql: statement begins with another word`,
		`sql: {connection: r, statement: "select 1; commit"}`:                  `sql: statement has a semicolon`,
		`sql: {connection: r, statement: select 1, args: 1}`:                   `sql: args are not a list`,
		`sql: {connection: r, statement: select 1, args: [[hunter2]]}`:         `sql: args[0] is a value that no parameter can have`,
		`sql: {connection: r, statement: select 1, args: [{job: hunter2}]}`:    `sql: args[0] names no value of the job`,
		`sql: {connection: r, statement: select 1, url: "postgres://hunter2"}`: `sql: url is not a key here`,
		`kind: sql, args: {connection: r, statement: drop table x}`:            `statement begins with another word`,
	} {
		_, err := Read("x.yaml", []byte("schedules:\n  - {name: a, every: 1h, "+text+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
