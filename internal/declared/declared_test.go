package declared

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
)

func TestErrorIsOneLine(t *testing.T) {
	for want, err := range map[string]Error{
		`f: bad`: {File: "f", Problem: "bad"},
		`f:3: schedules[0] "a": tz: bad; do better`: {File: "f", Line: 3, Entry: `schedules[0] "a"`, Field: "tz", Problem: "bad", Remedy: "do better"},
		"f\ufffdg:1: a\ufffdb\ufffd":                {File: "f\ng", Line: 1, Problem: "a\x1bb\xff"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorsAreInTheOrderOfLines(t *testing.T) {
	var errs FileError
	if errs.Err() != nil {
		t.Error("no mistakes are an error")
	}
	for _, line := range []int{3, 1, 2, 1} {
		errs.Add(Error{File: "f", Line: line, Problem: fmt.Sprint(len(errs.List()))})
	}
	if got, want := errs.Err().Error(), "f:1: 1\nf:1: 3\nf:2: 2\nf:3: 0"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFieldsTakesJoinedErrorsApart(t *testing.T) {
	err := errors.Join(
		&check.FieldError{Field: "name", Value: "x", Problem: "p", Remedy: "r"},
		errors.Join(recur.Spec{}.Validate(), nil),
		errors.New("other"),
	)
	fields := Fields(err)
	if len(fields) != 3 || fields[0].Title() != `name "x"` || fields[1].Name != "cron" || fields[2].Problem != "other" {
		t.Errorf("got %+v", fields)
	}
	if Fields(nil) != nil {
		t.Error("nil has fields")
	}
}

func TestSuggest(t *testing.T) {
	choices := []string{"cron", "command", "tz"}
	for word, want := range map[string]string{
		"crom": "cron", "Cron": "cron", "comand": "command", "commands": "command", "zone": "", "": "", "xy": "",
		strings.Repeat("command", 100): "",
	} {
		if want != "" {
			want = fmt.Sprintf(" (did you mean %q?)", want)
		}
		if got := Suggest(word, choices); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestMistakesThatAreOnlyCounted(t *testing.T) {
	var e FileError
	for range maxErrors + 1 {
		e.Add(Error{File: "f", Problem: "is wrong"})
	}
	want := "f: 1 more mistake of this sort; correct the mistakes above first"
	if got := e.Error(); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got[strings.LastIndex(got, "\n")+1:], want)
	}
}
