package kinds

import (
	"fmt"
	"time"
)

// Duration is a time.Duration that is written as a text such as "1m30s" in the
// arguments of a job.
type Duration time.Duration

// MarshalText writes the duration as time.Duration.String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a duration such as 1m30s", text)
	}
	*d = Duration(parsed)
	return nil
}
