package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// dice are chance without order: a number depends on the seed, on what it is for, and on how many were drawn for
// that before, and not on what else was drawn. So a run whose plan was shortened keeps most of its course.
type dice struct{ seed uint64 }

// number returns the n-th number for a purpose.
func (d dice) number(purpose string, n int) uint64 {
	return mix(hash(purpose) ^ mix(d.seed+uint64(n)*0x9e3779b97f4a7c15))
}

// hash is FNV-1a, which package hash/fnv computes only with an allocation.
func hash(text string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * 1099511628211
	}
	return sum
}

// part returns the n-th number for a purpose, from 0 to 1, 1 excluded.
func (d dice) part(purpose string, n int) float64 {
	return float64(d.number(purpose, n)>>11) / (1 << 53)
}

// span returns a duration for a purpose: short ones are frequent, and the mean is mean.
func (d dice) span(purpose string, n int, mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-d.part(purpose, n)) * float64(mean))
}

// rng returns a generator for a purpose that one goroutine uses.
func (d dice) rng(purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(d.number(purpose, 0), d.number(purpose, 1)))
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
