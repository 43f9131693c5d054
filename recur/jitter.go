package recur

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Jitter returns how much later than its slot a job is to run, so that many
// schedules of one slot do not all start at once: whole microseconds from 0
// up to, but without, most. It depends on its arguments alone, so every node
// and every release comes to the same answer for the slot of a schedule; over
// the slots and over the names the answers are spread evenly.
func Jitter(name string, slot time.Time, most time.Duration) time.Duration {
	if most < time.Microsecond {
		return 0
	}
	// The first 64 bits of a SHA-256 of both, taken as a fraction of most.
	text := binary.BigEndian.AppendUint64([]byte(name), uint64(slot.UnixMicro()))
	sum := sha256.Sum256(text)
	micros, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), uint64(most.Microseconds()))
	return time.Duration(micros) * time.Microsecond
}
