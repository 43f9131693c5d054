package store

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Migrator is implemented by backends with a schema. Callers find it by
// assertion.
type Migrator interface {
	// MigrateUp applies the missing steps, each in a transaction, and returns
	// the steps that it applied. Several processes may call it concurrently: one
	// applies the steps, the others wait.
	MigrateUp(ctx context.Context) ([]Migration, error)
	// MigrateStatus reads which steps are applied; it creates nothing.
	MigrateStatus(ctx context.Context) ([]MigrationStatus, error)
	// Migrations returns all steps, so that they can be printed for the user's
	// own tools.
	Migrations() []Migration
}

// Migration is one numbered step of a schema.
type Migration struct {
	Version int    // 1, 2, 3 … without gaps
	Name    string // "tables" for a file 0001_tables.sql
	SQL     string
}

// MigrationStatus is a step and whether the database has it.
type MigrationStatus struct {
	Migration
	Applied bool
}

// CheckSteps checks that the applied steps are steps of this release or later steps. It
// reads only their versions and names. Numbers of steps begin with 1: a table with
// other numbers belongs to another program. A step with another name was applied by a
// version of Hourbell with other steps; remove is the instruction to remove such a schema.
// The error wraps ErrSchema.
func CheckSteps(applied, steps []Migration, remove string) error {
	for _, step := range applied {
		switch {
		case step.Version > len(steps):
		case step.Version < 1:
			return fmt.Errorf("%w: its step %d, %q, is no step of hourbell; use another schema or file", ErrSchema, step.Version, step.Name)
		case step.Name != steps[step.Version-1].Name:
			return fmt.Errorf("%w: a version of hourbell from before its first release made it (step %d is %q, not %q), and it cannot be updated; "+
				"save what you need, %s, and run `hourbell migrate up`, or Client.Migrate in a program",
				ErrSchema, step.Version, step.Name, steps[step.Version-1].Name, remove)
		}
	}
	return nil
}

// Newest returns the greatest version of some steps, 0 without steps.
func Newest(steps []Migration) int {
	version := 0
	for _, step := range steps {
		version = max(version, step.Version)
	}
	return version
}

// CheckSchema compares the newest step that the database has with the newest step of a
// release. A schema ahead of the release by one step is accepted, so that a rolling
// deploy can migrate first. Its error wraps ErrSchema.
func CheckSchema(have, need int) error {
	switch {
	case have < need:
		return fmt.Errorf("%w: it is at step %d, this release needs step %d; run `hourbell migrate up`, or Client.Migrate in a program", ErrSchema, have, need)
	case have > need+1:
		return fmt.Errorf("%w: it is at step %d, this release knows step %d; run a newer release of hourbell", ErrSchema, have, need)
	}
	return nil
}

// ReadMigrations reads the files NNNN_name.sql of a folder, in order.
func ReadMigrations(files fs.FS, dir string) ([]Migration, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var steps []Migration
	for _, entry := range entries {
		number, rest, ok := strings.Cut(strings.TrimSuffix(entry.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if !ok || err != nil || !strings.HasSuffix(entry.Name(), ".sql") {
			return nil, fmt.Errorf("read migrations: %s is not named NNNN_name.sql", entry.Name())
		}
		text, err := fs.ReadFile(files, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		steps = append(steps, Migration{Version: version, Name: rest, SQL: string(text)})
	}
	sort.Slice(steps, func(i, j int) bool { return steps[i].Version < steps[j].Version })
	for i, step := range steps {
		if step.Version != i+1 {
			return nil, fmt.Errorf("read migrations: step %d is missing", i+1)
		}
	}
	return steps, nil
}

// StatusOf returns which steps a database has whose newest step is have.
func StatusOf(steps []Migration, have int) []MigrationStatus {
	out := make([]MigrationStatus, len(steps))
	for i, step := range steps {
		out[i] = MigrationStatus{Migration: step, Applied: step.Version <= have}
	}
	return out
}
