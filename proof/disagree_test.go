package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// notInForce is the warning of a host whose copy differs from the version in force.
const notInForce = "file not in force: it differs from the version in force"

// disagreeing are hosts with copies of a file, each with a node.
type disagreeing struct {
	t     *testing.T
	store string
	dirs  map[string]string
	nodes map[string]*process
}

// start starts the node of a host.
func (d *disagreeing) start(host string) {
	d.t.Helper()
	d.nodes[host] = serve(d.t, d.store, "--commands", "declared", "--host", host, "--file", filepath.Join(d.dirs[host], "s.yaml"))
	until(d.t, 20*time.Second, "the node of "+host, func() bool { return d.nodes[host].logged("node started") > 0 })
}

// write writes the copy of a host: the schedules have a command each.
func (d *disagreeing) write(host string, commands ...string) {
	d.t.Helper()
	text := "schedules:\n"
	for _, pair := range commands {
		name, command, _ := strings.Cut(pair, "=")
		text += fmt.Sprintf("- {name: %s, every: 1s, shell: %q, overlap: allow, grace: 1s}\n", name, command)
	}
	if err := os.WriteFile(filepath.Join(d.dirs[host], "s.yaml"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// shown is a schedule as it is shown.
type shown struct {
	Revision   int64    `json:"revision"`
	DeclaredBy []string `json:"declared_by"`
	DiffersOn  []string `json:"differs_on"`
}

func (d *disagreeing) show(name string) (s shown) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(run(d.t, d.store, "schedules", "show", name, "--output", "json")), &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// warns waits until the node of a host has warned that its copy differs from the copy of another.
func (d *disagreeing) warns(host, other string, times int) {
	d.t.Helper()
	until(d.t, 20*time.Second, host+" warns", func() bool {
		n := 0
		for _, line := range d.nodes[host].lines(notInForce) {
			if line.Host == other {
				n++
			}
		}
		return n >= times
	})
}

// TestFilesThatDisagree (P1, P2): the copies of three hosts differ in time and content, and hosts
// restart and leave. The table in docs/commands.md has what runs and what is warned; no slot of a schedule whose
// command changes is lost or doubled while a file is rolled out.
func TestFilesThatDisagree(t *testing.T) {
	t.Parallel()
	d := &disagreeing{t: t, store: serverStore(t), dirs: map[string]string{}, nodes: map[string]*process{}}
	for _, host := range []string{"a", "b", "c"} {
		d.dirs[host] = t.TempDir()
		d.write(host, "steady=true", "edited=true 1")
		d.start(host)
	}
	first := d.show("edited")
	if fmt.Sprint(first.DeclaredBy, first.DiffersOn) != "[a b c] []" {
		t.Errorf("with equal copies: %+v", first)
	}

	now := time.Now().Add(time.Hour) // touch, and a time that is not newer, change nothing
	for _, host := range []string{"a", "b"} {
		if err := os.Chtimes(filepath.Join(d.dirs[host], "s.yaml"), now, now); err != nil {
			t.Fatal(err)
		}
		until(t, 10*time.Second, "the file that was touched", func() bool { return d.nodes[host].logged("file read again") > 0 })
	}
	if again := d.show("edited"); again.Revision != first.Revision {
		t.Errorf("touch changed the schedule: %+v", again)
	}

	d.write("b", "steady=true", "edited=true 2")
	d.warns("a", "b", 1)
	d.warns("c", "b", 1)
	second := d.show("edited")
	if second.Revision == first.Revision || fmt.Sprint(second.DeclaredBy, second.DiffersOn) != "[b] [a c]" {
		t.Errorf("after the change of b: %+v", second)
	}
	var nodes []struct {
		Host, State string
		Differs     []string
	}
	if err := json.Unmarshal([]byte(run(t, d.store, "nodes", "--output", "json")), &nodes); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.State == "alive" && (len(n.Differs) > 0) != (n.Host != "b") {
			t.Errorf("nodes shows %+v", n)
		}
	}
	d.nodes["a"].stop()
	d.start("a")
	d.warns("a", "b", 1)
	d.nodes["c"].stop()
	d.write("c", "steady=true", "edited=true 2")
	d.start("c")
	d.write("a", "steady=true", "edited=true 2")
	until(t, 10*time.Second, "the roll-out", func() bool { return d.nodes["a"].logged("file read again") > 0 })
	if third := d.show("edited"); third.Revision != second.Revision || fmt.Sprint(third.DeclaredBy, third.DiffersOn) != "[a b c] []" {
		t.Errorf("after the roll-out: %+v", third)
	}
	d.everySecond("edited")
	d.everySecond("steady")

	d.write("c", "steady=true", "edited=true 2", "only=true 3")
	until(t, 10*time.Second, "the change of c", func() bool { return strings.Contains(run(t, d.store, "schedules", "list"), "only") })
	d.nodes["c"].stop()
	until(t, 20*time.Second, "slots that are missed", func() bool {
		for _, slot := range list[slotRow](t, d.store, "slots", "--schedule", "only") {
			if slot.Outcome == "missed" && strings.Contains(slot.Reason, "no living node has this version of the line: it is declared by host c, last seen at ") {
				return true
			}
		}
		return false
	})
	d.everySecond("steady")
}

// everySecond checks that a job was made for each second of a schedule, once.
func (d *disagreeing) everySecond(name string) {
	d.t.Helper()
	var slots []time.Time
	for _, row := range list[slotRow](d.t, d.store, "slots", "--schedule", name) {
		if row.Outcome != "fired" {
			d.t.Errorf("%s: slot %v %s: %s", name, row.Slot, row.Outcome, row.Reason)
		}
		slots = append(slots, row.Slot)
	}
	slices.SortFunc(slots, time.Time.Compare)
	for i := 1; i < len(slots); i++ {
		if gap := slots[i].Sub(slots[i-1]); gap != time.Second {
			d.t.Errorf("%s: %v after slot %v follows slot %v", name, gap, slots[i-1], slots[i])
		}
	}
	if len(slots) < 3 {
		d.t.Errorf("%s has %d slots only", name, len(slots))
	}
}

// TestTimeZonesThatDisagree: equal crontabs on hosts of different zones do not change the zone at each
// restart, and a host without the user of a line warns.
func TestTimeZonesThatDisagree(t *testing.T) {
	t.Parallel()
	store, dir := serverStore(t), t.TempDir()
	text := "#hourbell: name=nightly\n0 3 * * * true\n"
	if err := os.WriteFile(filepath.Join(dir, "tab"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	node := func(host, zone string, more ...string) *process {
		t.Helper()
		cmd := exec.Command(program, append([]string{"serve", "--log-format", "json", "--host", host, "--crontab", dir}, more...)...)
		cmd.Env = append(os.Environ(), "HOURBELL_STORE="+store, "TZ="+zone)
		p := start(t, cmd)
		until(t, 20*time.Second, "the node of "+host, func() bool { return p.logged("node started") > 0 })
		return p
	}
	zone := func() string {
		t.Helper()
		var s struct{ TZ string }
		if err := json.Unmarshal([]byte(run(t, store, "schedules", "show", "nightly", "--output", "json")), &s); err != nil {
			t.Fatal(err)
		}
		return s.TZ
	}
	node("a", "UTC")
	for range 2 {
		b := node("b", "Europe/Berlin")
		if lines := b.lines(notInForce); len(lines) != 1 || lines[0].Differs != "time zone: Europe/Berlin here, UTC in force" {
			t.Errorf("b warns %v", lines)
		}
		b.stop()
		node("a", "UTC").stop()
		if got := zone(); got != "UTC" {
			t.Errorf("the zone is %s", got)
		}
	}
	if os.Geteuid() != 0 {
		return // a node that does not run as root refuses lines of other users
	}
	system := filepath.Join(t.TempDir(), "system")
	if err := os.WriteFile(system, []byte("* * * * * no-such-user true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := node("c", "UTC", "--crontab-system", system)
	if lines := c.lines("lines not run by this node, because of their user"); len(lines) != 1 || lines[0].User != "no-such-user" {
		t.Errorf("c warns %v", lines)
	}
	const why = "declared by host c, whose nodes do not run it: their logs have the reason, such as a user who is missing there"
	if list := run(t, store, "schedules", "list", "--owner", "crontab:system", "--output", "ndjson"); !strings.Contains(list, `"waits":"`+why+`"`) {
		t.Errorf("the line is listed as %s", list)
	}
}
