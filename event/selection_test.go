package event

import "testing"

func TestSelection(t *testing.T) {
	failed := Event{Kind: JobFailed, JobKind: "mail", Queue: "mails"}
	for _, test := range []struct {
		name      string
		selection Selection
		event     Event
		want      bool
	}{
		{"all", Selection{}, failed, true},
		{"all, a step", Selection{}, Event{Kind: Step}, false},
		{"steps", Selection{Kinds: []Kind{Step}}, Event{Kind: Step}, true},
		{"steps of a queue", Selection{Queues: []string{"mails"}}, Event{Kind: Step, Queue: "mails"}, false},
		{"a kind of event", Selection{Kinds: []Kind{JobRetried, JobFailed}}, failed, true},
		{"another kind of event", Selection{Kinds: []Kind{JobRetried}}, failed, false},
		{"a kind of job", Selection{JobKinds: []string{"mail"}}, failed, true},
		{"another kind of job", Selection{JobKinds: []string{"bill"}}, failed, false},
		{"a kind of job, an event of a node", Selection{JobKinds: []string{"mail"}}, Event{Kind: LeaseLost}, false},
		{"a queue", Selection{JobKinds: []string{"mail"}, Queues: []string{"mails"}}, failed, true},
		{"another queue", Selection{JobKinds: []string{"mail"}, Queues: []string{"default"}}, failed, false},
	} {
		if got := test.selection.Has(test.event); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
