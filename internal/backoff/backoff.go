// Package backoff has the delays between a failed attempt of a job and the next
// attempt, as pure functions of the number of the attempt.
package backoff

import (
	"math"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
)

// The bounds of the durations in a policy, and the greatest delay of a policy that names none.
const (
	MinStep    = 100 * time.Millisecond
	MaxStep    = 365 * 24 * time.Hour
	DefaultCap = 24 * time.Hour
)

// spread is the greatest part by which After changes a delay, as one of so many parts. It keeps jobs
// that failed together from running together again.
const spread = 10

// Policy is how the delay grows with the attempts. The zero value is the default.
type Policy struct {
	form form
	step time.Duration
	most time.Duration // of linear and exponential policies
}

// form is how the delay grows.
type form string

// The forms: attempt⁴ s; always step; step × attempt; step × 2^(attempt-1).
const (
	steep       form = ""
	constant    form = "constant"
	linear      form = "linear"
	exponential form = "exponential"
)

// steepName is the text of the zero Policy.
const steepName = "default"

const remedy = "write default, constant:DELAY, linear:STEP, linear:STEP:MOST, exponential:FIRST or exponential:FIRST:MOST, like exponential:1s:10m"

// Parse reads a policy. The error is a *check.FieldError of the field backoff.
func Parse(text string) (Policy, error) {
	fail := func(problem, remedy string) (Policy, error) {
		return Policy{}, &check.FieldError{Field: "backoff", Value: check.Shorten(text), Problem: problem, Remedy: remedy}
	}
	name, rest, durations := strings.Cut(text, ":")
	p := Policy{form: form(name)}
	switch {
	case text == steepName:
		return Policy{}, nil
	case p.form != constant && p.form != linear && p.form != exponential:
		return fail("is unknown", remedy)
	case !durations:
		return fail("has no duration", remedy)
	}
	first, last, capped := strings.Cut(rest, ":")
	if capped && p.form == constant {
		return fail("has two durations", remedy)
	}
	const bounds = "use durations from 100ms to 8760h, like 30s or 10m"
	var err error
	if p.step, err = time.ParseDuration(first); err != nil {
		return fail("has a duration that cannot be read", remedy)
	}
	if p.form != constant {
		p.most = max(DefaultCap, p.step)
	}
	if capped {
		if p.most, err = time.ParseDuration(last); err != nil {
			return fail("has a duration that cannot be read", remedy)
		}
	}
	switch {
	case p.step < MinStep || p.step > MaxStep || p.most > MaxStep:
		return fail("has a duration that is out of range", bounds)
	case capped && p.most < p.step:
		return fail("has a greatest delay below the first delay", "let the second duration be the longer one")
	}
	return p, nil
}

// String returns the text that Parse reads.
func (p Policy) String() string {
	switch {
	case p.form == steep:
		return steepName
	case p.form == constant || p.most == max(DefaultCap, p.step):
		return string(p.form) + ":" + short(p.step)
	}
	return string(p.form) + ":" + short(p.step) + ":" + short(p.most)
}

// short returns a duration without units that are zero: 2h and not 2h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// After returns the delay after failed attempt number attempt (from 1): the policy's delay ± 10 %,
// which is at most the greatest delay of the policy. chance, a random number from 0 to 1, decides where in this range.
func (p Policy) After(attempt int, chance float64) time.Duration {
	wait := p.delay(attempt)
	return wait + time.Duration((2*chance-1)*float64(wait/spread))
}

// Total returns how long a job waits at most between its attempts, if it fails from attempt number first (from 1) to its
// last attempt, number attempts. It is the greatest duration if the sum is longer.
func (p Policy) Total(first, attempts int) time.Duration {
	var total time.Duration
	for n := max(first, 1); n < attempts; n++ {
		wait := p.delay(n)
		if wait += wait / spread; total > math.MaxInt64-wait {
			return math.MaxInt64
		}
		total += wait
	}
	return total
}

// delay returns the delay without its random part.
func (p Policy) delay(attempt int) time.Duration {
	n := time.Duration(max(attempt, 1))
	switch p.form {
	case constant:
		return p.step
	case linear:
		if n > p.most/p.step {
			return capped(p.most, p.most)
		}
		return capped(n*p.step, p.most) //nolint:durationcheck // n is a number
	case exponential:
		wait := p.step
		for range n - 1 {
			if wait > p.most/2 {
				return capped(p.most, p.most)
			}
			wait *= 2
		}
		return capped(wait, p.most)
	}
	n = min(n, 18)                                 // 18⁴ s is longer than a day
	return capped(n*n*n*n*time.Second, DefaultCap) //nolint:durationcheck // n is a number
}

// capped returns a delay that is at most most with the greatest random part.
func capped(wait, most time.Duration) time.Duration { return min(wait, most/(spread+1)*spread) }
