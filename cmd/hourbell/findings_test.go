package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// TestFindingsAreEverywhere makes things go wrong in a real node, and sees each finding appear and go in doctor, top, the overview
// page, the API, the metrics and, as far as it concerns the node, /readyz.
func TestFindingsAreEverywhere(t *testing.T) {
	b := newBench(t)
	const good = "schedules:\n  - {name: bell, every: 1h, shell: 'true'}\n"
	writeFile(t, "s.yaml", good)
	b.ok("schedules", "put", "there", "--every", "1s", "--grace", "1s", "--misfire", "all", "--on", "host=elsewhere", "--kind", "mail")
	b.ok("schedules", "put", "nightly", "--every", "24h", "--kind", "mail")
	eventually(t, "the schedule is overdue, without a node", func() bool {
		code, found := b.doctor()
		return code == exitFailed && found["schedule-overdue"] != nil
	})
	if _, found := b.doctor(); !strings.Contains(fmt.Sprint(found["schedule-overdue"]["found"]), "no node is alive") || found["schedule-overdue"]["remedy"] != "start `hourbell serve`" {
		t.Errorf("without a node: %v", found["schedule-overdue"])
	}

	p := b.serve("--file", "s.yaml", "--listen", "127.0.0.1:0", "--host", "belfry", "--name", "tower", "--lease", "2s")
	at := "http://" + p.apiAddress()
	get := func(path string) (int, string) { return call(t, http.DefaultClient, "GET", at+path, "") }
	ready := func() (int, string) { return get("/readyz") }
	eventually(t, "the node is ready", func() bool { code, _ := ready(); return code == http.StatusOK })

	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()

	// want says where a finding is missing, or is left if it must be gone; empty: nowhere.
	want := func(there bool, name string, level store.FindingLevel, text string) string {
		var wrong []string
		expect := func(place string, has bool) {
			if has != there {
				wrong = append(wrong, place)
			}
		}
		code, found := b.doctor()
		expect("doctor", found[name]["result"] == level.String() && strings.Contains(fmt.Sprint(found[name]["found"]), text) && found[name]["remedy"] != nil)
		if there && level == store.FindingError {
			expect("the exit code of doctor", code == exitFailed)
		}
		expect("top", strings.Contains(b.ok("top", "--once"), text))
		_, page := get("/")
		expect("the overview page", strings.Contains(page, text))
		_, list := get("/api/v1/findings")
		var answer struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(list), &answer); err != nil {
			t.Fatalf("the API answers %s", list)
		}
		listed := false
		for _, one := range answer.Items {
			listed = listed || one["check"] == name && one["result"] == level.String() && strings.Contains(fmt.Sprint(one["found"]), text)
		}
		expect("the API", listed)
		_, metrics := get("/metrics")
		expect("the metrics", strings.Contains(metrics, fmt.Sprintf("hourbell_finding{name=%q,severity=%q} 1\n", name, level)))
		return strings.Join(wrong, ", ")
	}
	everywhere := func(there bool, name string, level store.FindingLevel, text string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
			missing := want(there, name, level, text)
			if missing == "" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not as expected (there: %v) in %s\n%s", name, there, missing, b.run("doctor").out)
			}
		}
	}

	// Six things at once.
	writeFile(t, "s.yaml", good+"  - {name: bell2, evry: 1h}\n")
	b.ok("queues", "pause", "held", "--reason", "the mail server moves")
	held := fmt.Sprint(b.enqueued("mail", "--queue", "held")["id"])
	lost := fmt.Sprint(b.enqueued("mail", "--queue", "nowhere")["id"])
	rows, err := store.List[store.Schedule](t.Context(), backend, store.ListRequest{Names: []string{"nightly"}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(2 * time.Hour)
	_, err = backend.Fire(t.Context(), store.FireRequest{Now: later.Add(48 * time.Hour), Firings: []store.Firing{{
		Schedule: rows[0].ID, Revision: rows[0].Revision, Mark: rows[0].Mark, NextAt: rows[0].NextAt, NewMark: later, NewNextAt: later.Add(time.Hour),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	b.ok("schedules", "put", "breaks", "--every", "24h", "--", "false")
	eventually(t, "the node has planned the schedule", func() bool {
		rows, err = store.List[store.Schedule](t.Context(), backend, store.ListRequest{Names: []string{"breaks"}, Limit: 1})
		return err == nil && rows[0].NextAt.After(rows[0].Mark)
	})
	breaks := store.Firing{
		Schedule: rows[0].ID, Revision: rows[0].Revision, Mark: rows[0].Mark, NextAt: rows[0].NextAt, NewMark: rows[0].Mark, NewNextAt: rows[0].NextAt.Add(time.Hour),
		Overlap: store.OverlapAllow,
	}
	for i := range 12 {
		slot := rows[0].Mark.Add(time.Duration(i-12) * time.Minute)
		breaks.Jobs = append(breaks.Jobs, store.NewJob{
			JobSpec:  store.JobSpec{Kind: "command", Queue: "default", Args: []byte(`{"argv":["false"]}`), Priority: 5, MaxAttempts: 1},
			Schedule: rows[0].ID, Slot: slot, RunAt: slot, Origin: store.OriginSchedule,
		})
	}
	if fired, err := backend.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{breaks}, Replan: true}); err != nil || len(fired.Fired) != len(breaks.Jobs) {
		t.Fatalf("fired %+v, %v", fired, err)
	}
	all := []struct {
		name  string
		level store.FindingLevel
		text  string
	}{
		{"schedule-overdue", store.FindingError, "schedule there has not fired"},
		{"schedule-ahead", store.FindingError, "schedule nightly is ahead of the store"},
		{"file-refused", store.FindingError, "file s.yaml of host belfry is refused: s.yaml:3"},
		{"job-untaken", store.FindingError, "job " + lost + " waits although it is due"},
		{"schedule-broken", store.FindingError, "the last 12 jobs of schedule breaks failed"},
		{"pause-holds-jobs", store.FindingWarning, "queue held is paused since"},
	}
	for _, one := range all {
		everywhere(true, one.name, one.level, one.text)
	}
	if list := b.ok("schedules", "list"); !strings.Contains(list, "✗✗✗✗✗✗✗✗✗✗✗✗") || !strings.Contains(list, "failing") {
		t.Errorf("the list of schedules is\n%s", list)
	}
	if _, page := get("/schedules"); !strings.Contains(page, "✗✗✗✗✗✗✗✗✗✗✗✗") {
		t.Error("the page of schedules has no strip of outcomes")
	}
	if health := fmt.Sprint(b.objects("schedules", "show", "breaks")[0]["health"]); !strings.Contains(health, "failing:true failures:12") {
		t.Errorf("the health of the schedule is %s", health)
	}
	if slot := b.objects("slots", "--schedule", "breaks")[0]; slot["outcome"] != "fired" || slot["job_state"] != "failed" {
		t.Errorf("the slot is %v", slot)
	}
	if code, body := ready(); code != http.StatusServiceUnavailable || !strings.Contains(body, "file-refused") {
		t.Errorf("readyz answers %d %s while a file is refused", code, body)
	}
	if code, _ := get("/livez"); code != http.StatusOK {
		t.Errorf("livez answers %d", code)
	}
	if problems := fmt.Sprint(b.objects("nodes")[0]["problems"]); !strings.Contains(problems, "s.yaml:3") {
		t.Errorf("hourbell nodes has the problems %s", problems)
	}

	writeFile(t, "s.yaml", good+"  - {name: bell2, every: 1h, shell: 'true'}\n")
	b.ok("queues", "resume", "held")
	b.ok("jobs", "cancel", held, lost)
	b.ok("schedules", "delete", "there") // its due slots fire before
	b.ok("jobs", "cancel", "--queue", "default@elsewhere")
	b.ok("schedules", "reset", "--all")
	b.ok("schedules", "pause", "breaks")
	for _, one := range all {
		everywhere(false, one.name, one.level, one.text)
	}
	eventually(t, "the node is ready again", func() bool { code, _ := ready(); return code == http.StatusOK })

	// The store goes back.
	position, err := backend.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := position
	seen.Token += 1000
	if _, err := backend.ReportLoss(t.Context(), store.ReportLossRequest{Accepted: position.Accepted, Seen: seen}); err != nil {
		t.Fatal(err)
	}
	everywhere(true, "store-went-back", store.FindingError, "the store went back in time")
	if code, body := ready(); code != http.StatusServiceUnavailable || !strings.Contains(body, "went back in time") {
		t.Errorf("readyz answers %d %s after the store went back", code, body)
	}
	b.ok("nodes", "accept-history")
	everywhere(false, "store-went-back", store.FindingError, "the store went back in time")
	eventually(t, "the node is ready at last", func() bool { code, _ := ready(); return code == http.StatusOK })
}
