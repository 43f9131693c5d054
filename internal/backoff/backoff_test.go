package backoff

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
)

// TestEveryAttempt checks every form at attempts 1 to 1000, and far beyond: the
// delay never shrinks, overflows or exceeds its greatest value.
func TestEveryAttempt(t *testing.T) {
	for text, most := range map[string]time.Duration{
		"default": 24 * time.Hour, "constant:30s": 33 * time.Second, "constant:8760h": MaxStep / 10 * 11,
		"linear:10s": 24 * time.Hour, "linear:10s:1h": time.Hour, "linear:8760h": MaxStep, "linear:1s:1s": time.Second, "linear:8000h:8760h": MaxStep,
		"exponential:1s": 24 * time.Hour, "exponential:1s:10m": 10 * time.Minute, "exponential:100ms:8760h": MaxStep,
		"exponential:25h": 25 * time.Hour, "exponential:8760h:8760h": MaxStep,
	} {
		p := parse(t, text)
		last := time.Duration(0)
		for attempt := 1; attempt <= 1000; attempt++ {
			delay := p.delay(attempt)
			if delay < last || delay < MinStep*9/10 {
				t.Fatalf("%s: %v after attempt %d, %v after the attempt before", text, delay, attempt, last)
			}
			last = delay
			least, greatest := delay-delay/10, delay+delay/10
			for range 20 {
				if got := p.After(attempt, rand.Float64()); got < least || got > greatest || got > most {
					t.Fatalf("%s: %v after attempt %d, want %v ± 10 %% and at most %v", text, got, attempt, delay, most)
				}
			}
		}
		for _, attempt := range []int{math.MaxInt16, math.MaxInt} {
			if got := p.delay(attempt); got < last || got > most {
				t.Errorf("%s: %v after attempt %d, %v after attempt 1000", text, got, attempt, last)
			}
		}
		if got := p.delay(0); got != p.delay(1) {
			t.Errorf("%s: %v before the first attempt", text, got)
		}
	}
}

func TestDelays(t *testing.T) {
	for text, want := range map[string]map[int]time.Duration{
		"default":              {1: time.Second, 2: 16 * time.Second, 5: 625 * time.Second, 17: DefaultCap / 11 * 10, 1000: DefaultCap / 11 * 10},
		"constant:30s":         {1: 30 * time.Second, 2: 30 * time.Second, 1000: 30 * time.Second},
		"linear:10s:1h":        {1: 10 * time.Second, 2: 20 * time.Second, 300: 3000 * time.Second, 361: time.Hour / 11 * 10},
		"exponential:1s:10m":   {1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 10: 512 * time.Second, 11: 10 * time.Minute / 11 * 10},
		"exponential:1s:8760h": {20: 1 << 19 * time.Second},
	} {
		p := parse(t, text)
		for attempt, delay := range want {
			if got := p.delay(attempt); got != delay {
				t.Errorf("%s: %v after attempt %d, want %v", text, got, attempt, delay)
			}
		}
	}
}

func TestTotal(t *testing.T) {
	for _, test := range []struct {
		policy          string
		first, attempts int
		want            time.Duration
	}{
		{"constant:30s", 1, 1, 0},
		{"constant:30s", 1, 3, 66 * time.Second},
		{"constant:30s", 0, 3, 66 * time.Second},
		{"constant:30s", 3, 3, 0},
		{"linear:10s:1h", 2, 4, 55 * time.Second},
		{"constant:8760h", 1, 1000, math.MaxInt64},
	} {
		if got := parse(t, test.policy).Total(test.first, test.attempts); got != test.want {
			t.Errorf("%s from attempt %d to %d: %v, want %v", test.policy, test.first, test.attempts, got, test.want)
		}
	}
	if days := parse(t, "default").Total(1, 25).Hours() / 24; days < 10 || days > 12 {
		t.Errorf("25 attempts by the default wait %.1f days", days)
	}
}

// TestTheDelaysAreSpread checks that jobs that failed together do not all run
// together again, also at the greatest delay.
func TestTheDelaysAreSpread(t *testing.T) {
	for _, text := range []string{"default", "constant:30s", "linear:10s:1h", "exponential:1s:10m"} {
		for _, attempt := range []int{1, 1000} {
			p := parse(t, text)
			least, most := p.After(attempt, rand.Float64()), p.After(attempt, rand.Float64())
			for range 1000 {
				got := p.After(attempt, rand.Float64())
				least, most = min(least, got), max(most, got)
			}
			if most-least < p.delay(attempt)/10 {
				t.Errorf("%s, attempt %d: %v to %v is hardly spread", text, attempt, least, most)
			}
		}
	}
}

func TestPoliciesAreTheirText(t *testing.T) {
	for text, want := range map[string]string{
		"default": "default", "constant:30s": "constant:30s", "constant:90s": "constant:1m30s", "constant:8760h": "constant:8760h",
		"linear:10s": "linear:10s", "linear:10s:1h": "linear:10s:1h", "linear:10s:24h": "linear:10s", "linear:48h": "linear:48h",
		"exponential:100ms:10m": "exponential:100ms:10m", "exponential:1h:24h": "exponential:1h",
	} {
		p := parse(t, text)
		if got := p.String(); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
		if again := parse(t, p.String()); again != p {
			t.Errorf("%s: %+v is read as %+v", text, p, again)
		}
	}
	if (Policy{}).String() != "default" {
		t.Error("the zero value is not the default")
	}
}

func TestMistakes(t *testing.T) {
	for _, text := range []string{
		"", "30s", "constant", "constant:", "constant:30", "constant:30s:1h", "constant:-1s", "constant:99ms", "constant:8761h", "quadratic:1s",
		"linear:1s:", "linear:10s:1s", "linear:1s:1h:1h", "exponential:0s", "exponential:1s:8761h", "Constant:30s", "default:1h", " constant:30s",
		"exponential:9999999999h",
	} {
		_, err := Parse(text)
		var problem *check.FieldError
		if !errors.As(err, &problem) || problem.Field != "backoff" || problem.Remedy == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func parse(t *testing.T, text string) Policy {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func FuzzParse(f *testing.F) {
	f.Add("exponential:1s:10m", 7)
	f.Fuzz(func(t *testing.T, text string, attempt int) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(p.String()); err != nil || again != p {
			t.Fatalf("%q: %v is read as %v, %v", text, p, again, err)
		}
		if got := p.After(attempt, rand.Float64()); got < MinStep*8/10 || got > MaxStep/10*11 {
			t.Fatalf("%q: %v", text, got)
		}
	})
}
