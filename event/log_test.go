package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kinds reads the constants of type Kind from the source, so that the test
// covers all of them.
func kinds(t *testing.T) (all []Kind) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || spec.Type.(*ast.Ident).Name != "Kind" {
			return true
		}
		for _, value := range spec.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Kind(text))
		}
		return true
	})
	return all
}

func TestEveryKindHasALineOfItsOwn(t *testing.T) {
	all := kinds(t)
	if len(all) < 25 {
		t.Fatalf("found %d kinds", len(all))
	}
	seen := map[string]Kind{}
	for _, kind := range all {
		message := lines(kind).message
		if message == string(kind) {
			t.Errorf("%s has no line", kind)
		}
		if other, taken := seen[message]; taken {
			t.Errorf("%s and %s read the same", kind, other)
		}
		seen[message] = kind
	}
}

func TestLevels(t *testing.T) {
	for kind, want := range map[Kind]slog.Level{
		Step: LevelTrace, JobsClaimed: slog.LevelDebug, FiringLost: slog.LevelDebug,
		NodeStarted: slog.LevelInfo, JobCompleted: slog.LevelDebug, StoreBack: slog.LevelInfo,
		ClaimLost: slog.LevelWarn, LeaseLost: slog.LevelWarn, JobLost: slog.LevelWarn, SlotMissed: slog.LevelWarn, StopUnwritten: slog.LevelWarn,
		StoreFailed: slog.LevelError, JobFailed: slog.LevelError, JobRetried: slog.LevelError,
		StoreRetried: slog.LevelDebug, // the first failure was logged as an error
	} {
		if got := lines(kind).level; got != want {
			t.Errorf("%s is logged at %v, want %v", kind, got, want)
		}
	}
}

func TestLogWritesWhatIsSet(t *testing.T) {
	var out bytes.Buffer
	log := Log(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})), 0)
	log(Event{Kind: JobStarted, Job: 1})
	if out.Len() != 0 {
		t.Fatalf("a line below the level: %s", out.String())
	}
	slot := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	log(Event{
		Kind: JobFailed, Node: 2, Job: 3, Token: 4, JobKind: "k", Queue: "q", Attempt: 5, Schedule: "s", Slot: slot,
		Count: 6, Took: 7, Delay: 8, Late: 9, Detail: "d", Name: "n", Err: errors.New("e"), Trace: "t", Output: "o",
	})
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "ERROR", "msg": "job failed", "node": 2.0, "job": 3.0, "token": 4.0, "kind": "k", "queue": "q", "attempt": 5.0,
		"schedule": "s", "slot": "2026-03-01T09:00:00Z", "count": 6.0, "ran": 7.0, "retry_in": 8.0, "late": 9.0, "detail": "d", "name": "n", "error": "e", "trace": "t", "output": "o",
	}
	for key, value := range want {
		if line[key] != value {
			t.Errorf("%s is %v, want %v", key, line[key], value)
		}
		delete(line, key)
	}
	if len(line) != 0 {
		t.Errorf("more than expected: %v", line)
	}
}

// TestHandedBackJobsAreCounted checks that a node that hands back much writes few lines, and that the last line is written
// before the node has stopped.
func TestHandedBackJobsAreCounted(t *testing.T) {
	var out bytes.Buffer
	sink := Log(slog.New(slog.NewTextHandler(&out, nil)), 0)
	for i := range 2000 {
		sink(Event{Kind: JobReleased, Job: int64(i + 1)})
	}
	sink(Event{Kind: NodeStopped})
	if got := strings.Count(out.String(), "job handed back"); got != releasedLines {
		t.Errorf("%d lines for single jobs, want %d", got, releasedLines)
	}
	if !strings.Contains(out.String(), `msg="more jobs handed back" count=1997 within=1s`) || strings.Count(out.String(), "\n") != releasedLines+2 {
		t.Errorf("the log is\n%.2000s", out.String())
	}
}
