//go:build !linux

// Package replace replaces the program of this process in place, which only Linux can do.
package replace

import "errors"

// Possible reports whether a program can be replaced in place on this system.
const Possible = false

// Exec returns an error.
func Exec(string, []string, []string, []byte, []int) error {
	return errors.New("replace the program: this needs Linux")
}

// Take returns no message.
func Take() ([]byte, error) { return nil, nil }

// Keep does nothing.
func Keep([]int) error { return nil }
