package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestStatementsAreDeclared compares declared.go of each driver, and of package sqlrows, with the files of statements.
func TestStatementsAreDeclared(t *testing.T) {
	for _, folder := range []string{"drivers/sqlite", "drivers/mysql", "drivers/postgres", "store/rowwise/sqlrows"} {
		path := "./" + folder
		folder = filepath.Join("../../..", folder)
		want, err := source(folder)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, "declared.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s/declared.go is not what the files declare; run go generate in %s", folder, path)
		}
	}
}

func TestParse(t *testing.T) {
	s, err := parse("list_events", "listNewest, given newest rare, returns id sqlrows.LimitColumns at, a listing")
	if err != nil || s.name != "listNewest" || s.file != "list_events" || s.given != "newest rare" || !s.listing {
		t.Errorf("%+v, %v", s, err)
	}
	if got, want := expression(s.columns), `"id " + sqlrows.LimitColumns + " at"`; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if _, err := parse("f", "f, has id"); err == nil {
		t.Error("an unknown part of a declaration is read")
	}
}
