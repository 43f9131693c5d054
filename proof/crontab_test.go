package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// minutes returns how many whole minutes crontabs are observed.
func minutes(t *testing.T) int {
	return int(fromEnv(t, "HOURBELL_PROOF_MINUTES", 1, func(text string) (time.Duration, error) {
		n, err := strconv.Atoi(text)
		return time.Duration(n), err
	}))
}

// TestCrontabOnThreeNodes (P1): three hosts each have a copy of the same
// directory of crontabs. Two of them get a newer version of a file while their nodes are stopped.
// Then the nodes are stopped, killed and started again in turn. Each line of the newer versions
// runs once a minute, the older version's line never, and no restart changes
// the schedules in the store.
func TestCrontabOnThreeNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("a crontab rings once a minute")
	}
	t.Parallel()
	store := serverStore(t)
	w := newWitness(t)
	line := func(name string) string {
		return fmt.Sprintf("* * * * * echo %s $HOURBELL_SLOT $HOURBELL_TOKEN >> %s\n", name, w.path)
	}
	first, second := "PATH=/usr/bin:/bin\n"+line("a1")+"\n# moved about\n"+line("a2"), line("b1")+line("b2-new")+line("b3-new")
	old := line("b1") + line("b2-old")
	var dirs []string
	for i := range 3 {
		dir := t.TempDir()
		dirs = append(dirs, dir)
		writeCrontab(t, filepath.Join(dir, "first"), first, 0)
		writeCrontab(t, filepath.Join(dir, "second"), old, time.Duration(i)*time.Hour)
	}
	node := func(i int) *process {
		n := serve(t, store, "--commands", "declared", "--host", fmt.Sprint("host", i), "--crontab", dirs[i])
		until(t, 20*time.Second, "a node", func() bool { return n.logged("node started") > 0 })
		return n
	}
	nodes := []*process{node(0), node(1), node(2)}
	for i := range 2 {
		nodes[i].stop()
		writeCrontab(t, filepath.Join(dirs[i], "second"), second, 2*time.Hour) // a time that is not newer
		nodes[i] = node(i)
	}

	revisions := scheduleRevisions(t, store)
	if len(revisions) != 5 {
		t.Fatalf("schedules %v, want the five lines of the newer versions", revisions)
	}
	from := time.Now().Truncate(time.Minute).Add(time.Minute)
	to := from.Add(time.Duration(minutes(t)) * time.Minute)
	for i, next := 0, time.Now(); time.Now().Before(to); time.Sleep(100 * time.Millisecond) {
		if time.Now().Before(next) {
			continue
		}
		next = time.Now().Add(7 * time.Second)
		if i%4 == 3 {
			nodes[i%3].kill()
		} else {
			nodes[i%3].stop()
		}
		nodes[i%3] = node(i % 3)
		i++
	}
	time.Sleep(3 * time.Second) // wait for the last minute's jobs
	if now := scheduleRevisions(t, store); fmt.Sprint(now) != fmt.Sprint(revisions) {
		t.Errorf("restarts changed the schedules:\n%v\n%v", revisions, now)
	}
	for _, n := range nodes {
		n.signal(syscall.SIGTERM)
	}
	checkMinutes(t, w, from, to)
}

func writeCrontab(t *testing.T, path, text string, age time.Duration) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Truncate(time.Minute).Add(-time.Minute - age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// scheduleRevisions returns the revisions of all schedules by name.
func scheduleRevisions(t *testing.T, store string) map[string]int64 {
	t.Helper()
	revisions := map[string]int64{}
	for _, s := range list[struct {
		Name     string `json:"name"`
		Revision int64  `json:"revision"`
	}](t, store, "schedules", "list") {
		revisions[s.Name] = s.Revision
	}
	return revisions
}

// checkMinutes checks that each line ran once in each minute.
func checkMinutes(t *testing.T, w witness, from, to time.Time) {
	t.Helper()
	ran := map[string]int{}
	for _, row := range w.lines() {
		ran[strings.Join(row[:2], " ")]++
		if row[0] == "b2-old" {
			if slot, err := time.Parse(time.RFC3339, row[1]); err != nil || !slot.Before(from) {
				t.Errorf("the older version's line ran: %v", row)
			}
		}
	}
	for slot := from; slot.Before(to); slot = slot.Add(time.Minute) {
		for _, name := range []string{"a1", "a2", "b1", "b2-new", "b3-new"} {
			if n := ran[name+" "+slot.UTC().Format(time.RFC3339)]; n != 1 {
				t.Errorf("%s ran %d times for %v", name, n, slot)
			}
		}
	}
}
