package lock

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

func TestRestOfTheAtLeastTime(t *testing.T) {
	const atLeast = 2 * time.Second
	for _, test := range []struct {
		name   string
		req    Request
		passed time.Duration
		want   time.Duration
	}{
		{"none asked for", Request{}, 0, 0},
		{"at the grant", Request{AtLeast: atLeast}, 0, atLeast},
		{"in between, rounded up", Request{AtLeast: atLeast}, 500*time.Millisecond + 1, 1500 * time.Millisecond},
		{"at its end", Request{AtLeast: atLeast}, atLeast, 0},
		{"after it", Request{AtLeast: atLeast}, time.Hour, 0},
		{"in between, under the clock of a test", Request{AtLeast: atLeast, Now: time.Now}, time.Second, atLeast},
		{"after it, under the clock of a test", Request{AtLeast: atLeast, Now: time.Now}, 3 * time.Second, 0},
	} {
		now := uptime.Instant(5 * time.Hour)
		rest := newRest(test.req, func() uptime.Instant { return now })
		now = now.Add(test.passed)
		if got := rest.Left(); got != test.want {
			t.Errorf("%s: %v is left, want %v", test.name, got, test.want)
		}
	}
}
