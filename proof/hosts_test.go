//go:build linux

package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// enterHost makes a process a host: $1 is the host's folder, $2 its name, and the rest the command. The files of the folder are
// mounted over the system's in a mount namespace of the process, and the name is the name of its UTS namespace.
const enterHost = `set -e
hostname "$2"
mount --bind "$1/etc" /etc
mount --bind "$1/spool" /var/spool/cron
mount --bind "$1/run" /run
mount --bind "$1/shell" /bin/sh
shift 2
exec "$@"`

// hostShell is the shell of a host: it runs no command, and writes down how it was called.
const hostShell = `#!/run/dash
echo "$HOURBELL_JOB_ID $HOURBELL_SLOT $HOURBELL_HOST $(/bin/hostname) $(/usr/bin/id -u)" >> /run/runs
`

// host is a host with crontabs, a zone and users of its own, and its node.
type host struct {
	t    *testing.T
	dir  string
	name string
	node *process
}

func (h *host) write(name, text string, mode os.FileMode) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		h.t.Fatal(err)
	}
}

// stockFiles are the crontabs of Debian's packages that each host has.
var stockFiles = []string{"crontab", "cron.d/anacron", "cron.d/certbot", "cron.d/e2scrub_all", "cron.d/mdadm", "cron.d/php", "cron.d/sysstat"}

// stockLine is a line of such a file with its time.
var stockLine = regexp.MustCompile(`(?m)^([0-9*]\S*\s+){5}`)

// newHost makes a host. Its stock crontabs ring every minute, so that all their lines ring while they are observed.
func newHost(t *testing.T, name, zone string, users ...string) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), name: name}
	for _, file := range stockFiles {
		text, err := os.ReadFile(filepath.Join("cron/testdata/system", file))
		if err != nil {
			t.Fatal(err)
		}
		h.write(filepath.Join("etc", file), stockLine.ReplaceAllString(string(text), "* * * * * "), 0o644)
	}
	h.write("spool/crontabs/root", "* * * * * /usr/local/bin/watch-disk "+name+"\n", 0o600)
	passwd := "root:*:0:0::/root:/bin/sh\n"
	for i, user := range users {
		passwd += fmt.Sprintf("%s:*:%d:%d::/:/bin/sh\n", user, 1000+i, 1000+i)
	}
	h.write("etc/passwd", passwd, 0o644)
	h.write("etc/group", "root:x:0:\n", 0o644)
	h.write("etc/timezone", zone+"\n", 0o644)
	if err := os.Symlink("/usr/share/zoneinfo/"+zone, filepath.Join(h.dir, "etc/localtime")); err != nil {
		t.Fatal(err)
	}
	dash, err := os.ReadFile("/bin/dash")
	if err != nil {
		t.Skipf("there is no shell for hosts: %v", err)
	}
	h.write("run/dash", string(dash), 0o755)
	h.write("run/runs", "", 0o666)
	h.write("shell", hostShell, 0o755)
	h.write("cluster.d/app", "CRON_TZ=UTC\n* * * * * root /srv/app/report\n#hourbell: on=every\n* * * * * root /srv/app/rotate\n* * * * * backup /srv/app/dump\n", 0o644)
	h.write("s.yaml", `schedules:
- {name: each, every: 2s, start: "2026-01-01T00:00:00Z", on: every, shell: a, overlap: allow, on_loss: fail}
- {name: once, every: 2s, start: "2026-01-01T00:00:00Z", shell: b, overlap: allow, on_loss: fail}
`, 0o600)
	return h
}

// enter returns a command on the host.
func (h *host) enter(command ...string) *exec.Cmd {
	return exec.Command("unshare", append([]string{"--mount", "--uts", "--", "/bin/sh", "-c", enterHost, "sh", h.dir, h.name}, command...)...)
}

// start starts the host's node.
func (h *host) start(store string) {
	h.t.Helper()
	cmd := h.enter(program, "serve", "--log-format", "json", "--lease", lease(h.t).String(), "--commands", "declared", "--state-dir", "",
		"--crontab-local", "/etc/crontab", "--crontab-local", "/etc/cron.d", "--crontab-local", "/var/spool/cron/crontabs",
		"--crontab-system", filepath.Join(h.dir, "cluster.d"), "--file", filepath.Join(h.dir, "s.yaml"))
	cmd.Env = append(os.Environ(), "HOURBELL_STORE="+store)
	h.node = start(h.t, cmd)
	until(h.t, 30*time.Second, "the node of "+h.name, func() bool { return h.node.logged("node started") > 0 })
}

// hostRun is a run of a command on a host.
type hostRun struct {
	job int64
	uid string
}

// runs returns what ran on the host.
func (h *host) runs() (runs []hostRun) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "run/runs"))
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		job, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || len(f) != 5 || f[2] != h.name || f[3] != h.name {
			h.t.Fatalf("on %s ran: %s", h.name, line)
		}
		runs = append(runs, hostRun{job, f[4]})
	}
	return runs
}

// hostMinutes returns how many minutes the crontabs of hosts are observed.
func hostMinutes(t *testing.T) int {
	return int(fromEnv(t, "HOURBELL_PROOF_HOSTS_MINUTES", 0, func(text string) (time.Duration, error) {
		n, err := strconv.Atoi(text)
		return time.Duration(n), err
	}))
}

// TestThreeHosts (P1, P2): three hosts, each with Debian's own crontabs, a spool, a zone and users, share a store. Their nodes are stopped
// and killed at random. Each line of a host's own crontabs, and each line on every host, is accounted for and runs on each host; each line
// of the cluster is accounted for and runs once. By default it takes some seconds, in which no line of a crontab rings but the
// file's schedules do; HOURBELL_PROOF_HOSTS_MINUTES=10 observes the crontabs too.
func TestThreeHosts(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || exec.Command("unshare", "--mount", "--uts", "true").Run() != nil {
		t.Skip("hosts need namespaces, which only root can make")
	}
	store, random := serverStore(t), random(t)
	hosts := []*host{newHost(t, "web1", "Europe/Prague", "backup"), newHost(t, "web2", "America/New_York", "backup"), newHost(t, "web3", "Asia/Tokyo")}
	for _, h := range hosts {
		h.start(store)
	}
	until(t, 30*time.Second, "schedules of all hosts", func() bool {
		return len(list[slotRow](t, store, "slots", "--schedule", "each")) > 0 && len(placesOf(t, store)) == 3*(len(localLines(t, hosts[0]))+2)+5
	})
	from := time.Now()
	to := from.Add(duration(t))
	if n := hostMinutes(t); n > 0 {
		from = from.Truncate(time.Minute).Add(time.Minute)
		to = from.Add(time.Duration(n) * time.Minute)
	}
	for next := time.Now(); time.Now().Before(to); time.Sleep(100 * time.Millisecond) {
		if time.Now().Before(next) {
			continue
		}
		next = time.Now().Add(time.Duration(3+random.IntN(5)) * time.Second)
		h := hosts[random.IntN(len(hosts))]
		if random.IntN(3) == 0 {
			h.node.kill()
		} else {
			h.node.stop()
		}
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		h.start(store)
	}
	until(t, 30*time.Second, "the slots of the time", func() bool { return accounted(t, store, to.Add(-2*time.Second)) })
	until(t, 60*time.Second, "the last jobs", func() bool {
		return len(list[jobRow](t, store, "jobs", "list", "--state", "ready,running")) == 0
	})
	for _, h := range hosts {
		h.node.stop()
	}
	checkHosts(t, store, hosts, from, to)
}

// place is where the jobs of a schedule run.
type place struct {
	Name     string  `json:"name"`
	On       string  `json:"on"`
	MadeFrom *string `json:"made_from"`
}

func placesOf(t *testing.T, store string) (places []place) {
	t.Helper()
	return list[place](t, store, "schedules", "list")
}

// localLines returns the lines of a host's own crontabs.
func localLines(t *testing.T, h *host) (lines []string) {
	t.Helper()
	for _, file := range append(slices.Clone(stockFiles), "../spool/crontabs/root") {
		text, err := os.ReadFile(filepath.Join(h.dir, "etc", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "* * * * * ") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// accounted reports whether each host has accounted for the slots of "each" up to an instant.
func accounted(t *testing.T, store string, to time.Time) bool {
	t.Helper()
	last := map[string]time.Time{}
	for _, slot := range list[hostSlot](t, store, "slots", "--schedule", "each") {
		if slot.Last.After(last[slot.Host]) {
			last[slot.Host] = slot.Last
		}
	}
	for _, name := range []string{"web1", "web2", "web3"} {
		if last[name].Before(to) {
			return false
		}
	}
	return true
}

type hostSlot struct {
	slotRow
	Host string `json:"host"`
}

// checkHosts checks the records of slots and what ran.
func checkHosts(t *testing.T, store string, hosts []*host, from, to time.Time) {
	t.Helper()
	places := map[string]place{}
	for _, p := range placesOf(t, store) {
		places[p.Name] = p
	}
	jobs := map[int64]jobRow{}
	for _, job := range list[jobRow](t, store, "jobs", "list") {
		jobs[job.ID] = job
	}
	ran := map[string]int{} // by schedule and slot
	for _, h := range hosts {
		for _, r := range h.runs() {
			job := jobs[r.job]
			if on := places[job.Schedule].On; on != "one" && on != "host="+h.name {
				t.Errorf("a job of %s, on %s, ran on %s", job.Schedule, on, h.name)
			}
			if dump := strings.Contains(job.Schedule, ":dump-"); dump != (r.uid == "1000") || dump && h.name == "web3" {
				t.Errorf("a job of %s ran on %s as user %s", job.Schedule, h.name, r.uid)
			}
			ran[job.Schedule+" "+job.Slot]++
		}
	}
	records := map[string][]hostSlot{}
	outcomes := map[string]int{}
	for _, slot := range list[hostSlot](t, store, "slots") {
		records[slot.Schedule] = append(records[slot.Schedule], slot)
		outcomes[slot.Outcome] += int(slot.Count)
		p := places[slot.Schedule]
		if p.MadeFrom != nil && "host="+slot.Host != p.On {
			t.Errorf("a slot of %s, on %s, is of host %q", slot.Schedule, p.On, slot.Host)
		}
		if slot.Outcome == "missed" && p.On != "one" && !strings.Contains(slot.Reason, strings.TrimPrefix(p.On, "host=")) {
			t.Errorf("a slot of %s is missed without the name of its host: %s", slot.Schedule, slot.Reason)
		}
		if n := ran[slot.Schedule+" "+slot.Slot.UTC().Format(time.RFC3339)]; slot.Outcome == "fired" && n > 1 {
			t.Errorf("the slot %v of %s ran %d times", slot.Slot, slot.Schedule, n)
		}
	}
	observed := 0
	for name, p := range places {
		step := time.Minute
		switch {
		case p.On == "every":
			if len(records[name]) > 0 {
				t.Errorf("%s has %d slots of its own", name, len(records[name]))
			}
			continue
		case strings.HasPrefix(name, "each"), name == "once":
			step = 2 * time.Second
		}
		for slot := from.Truncate(step).Add(step); slot.Before(to.Add(-step)); slot = slot.Add(step) {
			observed++
			if !slices.ContainsFunc(records[name], func(r hostSlot) bool { return !slot.Before(r.Slot) && !slot.After(r.Last) }) {
				t.Errorf("no record has the slot %v of %s, on %s", slot, name, p.On)
			}
		}
	}
	t.Logf("%d schedules, %d slots observed, %v", len(places), observed, outcomes)
	if outcomes["fired"] == 0 || len(ran) == 0 {
		t.Error("nothing ran")
	}
}
