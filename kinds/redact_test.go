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
		{"http", `{"url":"https://u:secret@h:1/p?k=secret#f","header":{"A":"secret"},"body":"secret"}`, `{"url":"https://u@h:1/p?…","header":{"A":"…"},"body":"…"}`},
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
		`{"to":"…","tokens":"…"}`: "",
		`{"password":"a"}`:        "",
		`not JSON`:                "",
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
