package kinds_test

import (
	"testing"

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
		{"mail", `{"env":{"A":"b"}}`, `{"env":{"A":"b"}}`},
	} {
		if got := string(kinds.Redact(test.kind, []byte(test.args))); got != test.want {
			t.Errorf("%s %s\n got %s\nwant %s", test.kind, test.args, got, test.want)
		}
	}
}
