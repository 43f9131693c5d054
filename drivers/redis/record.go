package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// record is the server's data about a name.
type record struct {
	value string        // of the lock's key; empty if the lock is free
	left  time.Duration // how long the lock stays held; negative if it has no end
	state lock.State
}

// readAnswer reads the reply of the script that takes locks.
func readAnswer(reply any) (answer string, r record, err error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) != 2 {
		return "", record{}, unexpected(reply)
	}
	r, err = readRecord(parts[1])
	return fmt.Sprint(parts[0]), r, err
}

// readRecord decodes what the function record of the Lua scripts returns.
func readRecord(reply any) (record, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) != 8 {
		return record{}, unexpected(reply)
	}
	var numbers [8]int64
	for i, part := range parts {
		text := fmt.Sprint(part)
		if i == 2 || text == "" {
			continue
		}
		var err error
		if numbers[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return record{}, unexpected(reply)
		}
	}
	at := func(i int) time.Time {
		if fmt.Sprint(parts[i]) == "" {
			return time.Time{}
		}
		return time.UnixMilli(numbers[i]).UTC()
	}
	return record{
		value: fmt.Sprint(parts[2]),
		left:  time.Duration(numbers[1]) * time.Millisecond,
		state: lock.State{
			Now: at(0), Token: numbers[3], GrantedAt: at(7),
			Mark: lock.Mark{Slot: at(4), Anchor: at(5), Interval: time.Duration(numbers[6]) * time.Millisecond},
		},
	}, nil
}

func unexpected(reply any) error { return fmt.Errorf("unexpected reply of the server: %v", reply) }

// until returns when the lock ends; zero if it is free.
func (r record) until() time.Time {
	switch {
	case r.left == 0:
		return time.Time{}
	case r.left < 0:
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // a key that was written by hand, without an expiry
	default:
		return r.state.Now.Add(r.left)
	}
}

// owner returns the holder of the lock: the text after the @ in the value, also
// in Java's values.
func (r record) owner() string {
	_, owner, found := strings.Cut(r.value, "@")
	if !found {
		return r.value
	}
	return owner
}

// lockedAt returns the instant before the @: milliseconds in Hourbell's values,
// a date in Java's. Zero if it is neither.
func (r record) lockedAt() time.Time {
	text, _, _ := strings.Cut(strings.TrimPrefix(r.value, "ADDED:"), "@")
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMilli(ms).UTC()
	}
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t.UTC()
}
