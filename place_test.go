package hourbell_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
)

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]hourbell.Place{
		"one": {}, "host=web1": {Host: "web1"}, "label=role=db": {Label: "role=db"},
		"every": {Every: true}, "every:label=role=db": {Every: true, Label: "role=db"},
	} {
		got, err := hourbell.ParsePlace(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "all", "host", "host=", "host=a b", "label=role", "web1", "every=web1", "every:host=web1", "every:label=role"} {
		_, err := hourbell.ParsePlace(text)
		if field := (*check.FieldError)(nil); !errors.As(err, &field) || field.Field != "on" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBadPlaces(t *testing.T) {
	good := hourbell.Schedule{Name: "s", Rule: recur.Every(time.Hour), Job: hourbell.RawArgs{Name: "k"}, On: hourbell.Place{Host: "web1"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*hourbell.Schedule){
		"a host and a label":       func(s *hourbell.Schedule) { s.On.Label = "role=db" },
		"is not the name of a":     func(s *hourbell.Schedule) { s.On.Host = "web@1" },
		"is not a label":           func(s *hourbell.Schedule) { s.On = hourbell.Place{Label: "db"} },
		"is too long for a sched":  func(s *hourbell.Schedule) { s.Queue = strings.Repeat("q", 196) },
		"is every host and a host": func(s *hourbell.Schedule) { s.On.Every = true },
		"name of at most 136 bytes": func(s *hourbell.Schedule) {
			s.On, s.Name = hourbell.Place{Every: true}, strings.Repeat("n", 137)
		},
		"give at most 100000": func(s *hourbell.Schedule) { s.On, s.Count = hourbell.Place{Every: true}, 100_001 },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
