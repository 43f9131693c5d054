//go:build !race

package sim

// seedsTwice is how many seeds run twice by default.
const seedsTwice = 6
