package main

import (
	"bytes"
	"os"
	"testing"
)

// TestCallsAreGenerated compares calls.go with the interfaces of package store.
func TestCallsAreGenerated(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../calls.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("calls.go is not what the contract asks for; run go generate ./internal/intercept")
	}
}
