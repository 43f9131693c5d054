// Package stats counts what nodes do, in rows of statistics: how many jobs ended how, how late they began and how long they took, what
// became of slots, and how many jobs and nodes there were. Rows of several nodes, and of several spans, can be added up.
package stats

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"time"
)

// Outcomes are the words for what becomes of jobs, in the order of Tally.Jobs. A word keeps its place, because rows are stored.
var Outcomes = [...]string{"completed", "failed", "cancelled", "retried", "snoozed", "released", "lost", "superseded"}

// SlotOutcomes are the words for what becomes of slots, in the order of Tally.Slots.
var SlotOutcomes = [...]string{"fired", "missed", "skipped", "not_started"}

// LeftOut is the name of what is counted together, because there are too many names.
const LeftOut = "_other"

// Key is what a Tally is about. The empty key is the whole cluster, a key with only a queue the jobs that wait in that queue, and a key
// with only a schedule the slots of that schedule.
type Key struct{ Queue, Kind, Schedule string }

// Tally is what has been counted in a span. Tallies can be added.
type Tally struct {
	Jobs  [len(Outcomes)]int64
	Slots [len(SlotOutcomes)]int64
	// Delay is how long after they were due jobs began, and Took how long their attempts took.
	Delay, Took Histogram
	// Samples is how often the cluster was looked at, and Nodes the sum of the living nodes that were found. Only the tally of the
	// empty key has them.
	Samples, Nodes int64
	// Depth is the sum of the due jobs that samples found, and Age how long, in microseconds, the oldest of these had been due at most.
	Depth, Age int64
}

// numbers returns the numbers of a tally, in the order in which they are stored. New numbers come last.
func (t *Tally) numbers() []*int64 {
	all := make([]*int64, 0, 128)
	add := func(list []int64) {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	all = append(all, &t.Samples, &t.Nodes, &t.Depth, &t.Age)
	add(t.Jobs[:])
	add(t.Slots[:])
	for _, h := range []*Histogram{&t.Delay, &t.Took} {
		all = append(all, &h.Sum)
		add(h.Buckets[:])
	}
	return all
}

// Add adds another tally.
func (t *Tally) Add(other *Tally) {
	age := max(t.Age, other.Age)
	more := other.numbers()
	for i, n := range t.numbers() {
		*n += *more[i]
	}
	t.Age = age
}

// Histogram counts times in buckets: less than 128 µs, 256 µs, 512 µs and so on; the last bucket has all longer times.
type Histogram struct {
	Sum     int64 // in microseconds
	Buckets [32]int64
}

// firstBucket is the bound of the first bucket, in microseconds.
const firstBucket = 128

// Record counts a time. Times before 0 count as 0.
func (h *Histogram) Record(d time.Duration) {
	micros := max(d.Microseconds(), 0)
	h.Sum += micros
	h.Buckets[min(bits.Len64(uint64(micros)/firstBucket), len(h.Buckets)-1)]++
}

// Count returns how many times were counted.
func (h *Histogram) Count() (n int64) {
	for _, in := range h.Buckets {
		n += in
	}
	return n
}

// Quantile returns the q-quantile of the times, q from 0 to 1: a part q of the times are at most as long; 0 without times. Within a
// bucket it takes times to be spread evenly, so that it is never more than twice the true value, nor less than half of it, except in the
// first and the last bucket.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := q * float64(h.Count())
	for i, in := range h.Buckets {
		if in == 0 || rank > float64(in) {
			rank -= float64(in)
			continue
		}
		low, high := 0.0, float64(firstBucket)
		if i > 0 {
			high = float64(int64(firstBucket) << i)
			low = high / 2
		}
		return time.Duration((low + (high-low)*rank/float64(in)) * float64(time.Microsecond))
	}
	return 0
}

// Tallies are tallies by what they are about.
type Tallies map[Key]*Tally

// most is how many keys tallies have apart. Beyond that, schedules are counted together, and beyond twice as many everything is.
const most = 1000

// At returns the tally of a key.
func (all Tallies) At(key Key) *Tally {
	t := all[key]
	for _, instead := range []struct {
		from int
		key  Key
	}{{most, Key{key.Queue, key.Kind, LeftOut}}, {2 * most, Key{LeftOut, LeftOut, LeftOut}}} {
		if t == nil && len(all) >= instead.from && key != (Key{}) {
			key = instead.key
			t = all[key]
		}
	}
	if t == nil {
		t = &Tally{}
		all[key] = t
	}
	return t
}

// Add adds other tallies.
func (all Tallies) Add(other Tallies) {
	for key, t := range other {
		all.At(key).Add(t)
	}
}

// Encode returns tallies as a row has them: for each key its three texts, each after its length, and then the numbers that are not 0, each
// after how many places further it is than the one before, and 0.
func (all Tallies) Encode() []byte {
	var data []byte
	keys := make([]Key, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, Key.compare)
	for _, key := range keys {
		for _, text := range []string{key.Queue, key.Kind, key.Schedule} {
			data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
		}
		last := -1
		for i, n := range all[key].numbers() {
			if *n > 0 {
				data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(i-last)), uint64(*n))
				last = i
			}
		}
		data = append(data, 0)
	}
	return data
}

var errDamaged = errors.New("a row of statistics is damaged")

// Decode adds the tallies of a row. Numbers that only a later release knows are left out.
func (all Tallies) Decode(data []byte) error {
	number := func() (n uint64) {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			data = nil
			return 0
		}
		data = data[size:]
		return n
	}
	for len(data) > 0 {
		var texts [3]string
		for i := range texts {
			n := number()
			if n > uint64(len(data)) {
				return errDamaged
			}
			texts[i], data = string(data[:n]), data[n:]
		}
		if len(data) == 0 {
			return errDamaged
		}
		var t Tally
		numbers := t.numbers()
		for at := uint64(0); ; {
			step := number()
			if step == 0 {
				break
			}
			if at += step; at > uint64(len(numbers)) {
				number()
				continue
			}
			*numbers[at-1] = int64(number())
		}
		all.At(Key{texts[0], texts[1], texts[2]}).Add(&t)
	}
	return nil
}
