package recur

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Jitter returns how much later than its slot a job runs, so that the jobs of
// many schedules with the same slot do not all start at once. The result is in
// whole microseconds, from 0 up to, but not including, most. It depends on the
// arguments only, so that every node and every release computes the same delay
// for a slot of a schedule. The delays are spread evenly over the slots and
// over the names.
func Jitter(name string, slot time.Time, most time.Duration) time.Duration {
	if most < time.Microsecond {
		return 0
	}
	// The first 64 bits of the SHA-256 of name and slot, taken as a fraction of
	// most.
	text := binary.BigEndian.AppendUint64([]byte(name), uint64(slot.UnixMicro()))
	sum := sha256.Sum256(text)
	micros, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), uint64(most.Microseconds()))
	return time.Duration(micros) * time.Microsecond
}
