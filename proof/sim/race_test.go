//go:build race

package sim

// seedsTwice is how many seeds run twice by default: none, because they take long under the race detector.
const seedsTwice = 0
