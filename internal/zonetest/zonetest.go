// Package zonetest gives tests time zones whose data they write.
package zonetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Main runs the tests of a package with a folder for the zones of Write; TestMain calls it. All other zones have the data of the system.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "zones")
	if err == nil {
		err = os.Setenv("ZONEINFO", folder) // package time reads it once, before the first zone
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	return m.Run()
}

// Change is a change of the clock of a zone.
type Change struct {
	At     time.Time // whole seconds, of the years 1902 to 2037
	Offset time.Duration
}

// Write writes the data of a zone, such as Test/Town: its offset from UTC, and how its clock changes, in order. Data that were written
// before are replaced at once, as a package manager replaces them.
func Write(t testing.TB, zone string, offset time.Duration, changes ...Change) {
	t.Helper()
	path := filepath.Join(os.Getenv("ZONEINFO"), filepath.FromSlash(zone))
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.WriteFile(path+".new", file(offset, changes), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// file returns the data as a file of version 1 of RFC 8536.
func file(offset time.Duration, changes []Change) []byte {
	const name = "T\x00" // of each offset
	var b bytes.Buffer
	b.WriteString("TZif")
	b.Write(make([]byte, 16))
	put := func(v any) { _ = binary.Write(&b, binary.BigEndian, v) } // never fails
	put([6]uint32{0, 0, 0, uint32(len(changes)), uint32(len(changes) + 1), uint32(len(name))})
	for _, c := range changes {
		put(int32(c.At.Unix()))
	}
	for i := range changes {
		put(uint8(i + 1))
	}
	for _, o := range append([]Change{{Offset: offset}}, changes...) {
		put(int32(o.Offset / time.Second))
		put([2]uint8{})
	}
	b.WriteString(name)
	return b.Bytes()
}
