package kinds_test

import (
	"errors"
	"testing"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/kinds"
)

func TestRedactHidesWhatMayBeSecret(t *testing.T) {
	for _, test := range []struct{ kind, args, want string }{
		{"command", `{"shell":"a < b","env":{"A":"secret","B":""},"stdin":"secret"}`, `{"shell":"a < b","env":{"A":"…","B":"…"},"stdin":"…"}`},
		{"command", `{"shell":"A=secret B='se cret' C= curl -d D=e"}`, `{"shell":"A=… B=… C= curl -d D=e"}`},
		{"command", `{"argv":["/bin/bash","-c","A=\"se cret\"; curl"]}`, `{"argv":["/bin/bash","-c","A=…"]}`},
		{"command", `{"shell":"A=$(cat secret file) curl"}`, `{"shell":"A=…"}`},
		{"command", `{"shell":"A=sec\\ ret curl"}`, `{"shell":"A=…"}`},
		{"command", `{"shell":"[ A=b ] && curl"}`, `{"shell":"[ A=b ] && curl"}`},
		{"command", `{"argv":["ls"]}`, `{"argv":["ls"]}`},
		{"command", `not JSON`, `not JSON`},
		{"http", `{"url":"https://u:secret@h:1/p?k=secret#f","header":{"A":"secret"},"body":"secret"}`, `{"url":"https://u:…@h:1/p?…","header":{"A":"…"},"body":"…"}`},
		{"http", `{"url":"https://h/p"}`, `{"url":"https://h/p"}`},
		{
			"command", `{"argv":["curl","--token","secret","--api-key=secret","-v","https://h/token","API_SECRET=secret","--password"]}`,
			`{"argv":["curl","--token","…","--api-key=…","-v","https://h/token","API_SECRET=…","--password"]}`,
		},
		{
			"command", `{"shell":"curl --user-token secret --password='se cret' -o /tmp/token x --secret --dry-run"}`,
			`{"shell":"curl --user-token … --password=… -o /tmp/token x --secret --dry-run"}`,
		},
		{"mail", `{"env":{"A":"b"}}`, `{"env":{"A":"b"}}`},
		{"mail", `{"to":"a", "n":12345678901234567890}`, `{"to":"a", "n":12345678901234567890}`},
		{
			"mail", `{"to":"a<b","smtp":{"Password":"secret","tokens":3},"n":12345678901234567890,"list":[{"api_key":7},{"clientSecret":{"a":"secret"}}]}`,
			`{"list":[{"api_key":"…"},{"clientSecret":"…"}],"n":12345678901234567890,"smtp":{"Password":"…","tokens":3},"to":"a<b"}`,
		},
		{"mail", `{"password":"","token":null,"secret":true}`, `{"password":"","token":null,"secret":true}`},
		{"mail", `{"tokens":["secret"],"Passwords":{"ada":"secret"},"auth":{"user":"ada"},"cookies":[]}`, `{"Passwords":"…","auth":"…","cookies":[],"tokens":"…"}`},
		{"mail", `{"dsn":"ada:secret@tcp(h)/db","database_url":"postgres://ada:secret@h/db"}`, `{"database_url":"postgres://ada:…@h/db","dsn":"…"}`},
		{"mail", `{"webhook_url":"https://x.example/a/secret?b","to":"see https://h.example/hooks/secret, Bearer secretsecret"}`, `{"to":"see https://h.example/hooks/… Bearer …","webhook_url":"https://x.example/…"}`},
		{"http", `{"url":"https://hooks.slack.com/services/T0/B0/secret"}`, `{"url":"https://hooks.slack.com/…"}`},
		{"http", `{"url":"https://h/%zz"}`, `{"url":"…"}`},
		{"command", `{"argv":["a"],"env":{"PATH":"/bin","LC_ALL":"C","PATHS":"secret","path":"secret"}}`, `{"argv":["a"],"env":{"LC_ALL":"C","PATH":"/bin","PATHS":"…","path":"…"}}`},
		{"command", `{"shell":"PATH=/bin:/sbin TOKEN=secret curl"}`, `{"shell":"PATH=/bin:/sbin TOKEN=… curl"}`},
		{
			"command", `{"argv":["curl","-H","X-Api-Key: secret","-H","Accept: a/b","https://ada:secret@h/p","--header=Authorization: Bearer secretsecret","time: 3"]}`,
			`{"argv":["curl","-H","X-Api-Key: …","-H","Accept: a/b","https://ada:…@h/p","--header=Authorization: Bearer …","time: 3"]}`,
		},
		{
			"command", `{"shell":"cd /a && export DB_PASS='se cret'; curl -H 'Authorization: Bearer secret' --session-id secret https://h/?sig=secret&n=1"}`,
			`{"shell":"cd /a && export DB_PASS=…; curl -H 'Authorization: …' --session-id … https://h/?sig=…&n=1"}`,
		},
		{"mail", `not JSON`, `not JSON`},
	} {
		if got := string(kinds.Redact(test.kind, []byte(test.args))); got != test.want {
			t.Errorf("%s %s\n got %s\nwant %s", test.kind, test.args, got, test.want)
		}
	}
}

// TestHiddenValuesAreNotWrittenBack checks that a definition whose secrets were hidden when it was read is refused.
func TestHiddenValuesAreNotWrittenBack(t *testing.T) {
	for args, want := range map[string]string{
		`{"to":"…","tokens":3}`: "",
		`{"password":"a"}`:      "",
		`not JSON`:              "",
		`{"smtp":[{"to":"a"},{"Password":"…"}],"z":"…"}`: "args.smtp[1].Password",
	} {
		var field *check.FieldError
		err := kinds.CheckArgs("mail", kinds.Redact("mail", []byte(args)))
		if args == `{"password":"a"}` {
			want = "args.password"
			if kinds.CheckArgs("mail", []byte(args)) != nil {
				t.Errorf("%s is refused before it was hidden", args)
			}
		}
		if errors.As(err, &field) != (want != "") || field != nil && field.Field != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}
