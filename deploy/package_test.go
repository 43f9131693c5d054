package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Tests of built packages need two folders of scripts/release, of a release and of the release after it, and root, because
// they install packages on this machine and remove them: scripts/release-check sets the variables.
const (
	releaseVariable = "HOURBELL_RELEASE"
	nextVariable    = "HOURBELL_RELEASE_NEXT"
)

// built returns the only file of a built release that matches a pattern.
func built(t *testing.T, variable, pattern string) string {
	t.Helper()
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skipf("%s is not set: run `make release-check`", variable)
	}
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, folder, found, err)
	}
	return found[0]
}

// host is this machine, where a package is installed and run without systemd: the test takes the part of systemd. A program
// systemctl, which scripts of the package find first, notes what it is asked, and does it with the process of the unit.
type host struct {
	t      *testing.T
	folder string // of systemctl, its notes, and the number of the unit's process
	socket *net.UnixConn
	mu     sync.Mutex
	said   []string // to the socket
	node   *exec.Cmd
	log    bytes.Buffer
	ended  chan error
}

// notices is where packages and images have the licences of the modules of others.
const notices = "/usr/share/doc/hourbell/THIRD-PARTY-NOTICES"

const systemctl = `#!/bin/sh
folder=$(dirname "$0")
echo "$*" >>"$folder/notes"
case $1 in
is-active) [ -e "$folder/pid" ] ;;
kill) kill -USR2 "$(cat "$folder/pid")" ;;
disable) [ ! -e "$folder/pid" ] || { kill -TERM "$(cat "$folder/pid")"; while [ -e "$folder/pid" ]; do sleep 0.1; done; } ;;
esac
`

func newHost(t *testing.T) *host {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("needs dpkg")
	}
	if _, err := user.Lookup("hourbell"); err == nil || os.IsExist(os.Mkdir("/var/lib/hourbell", 0o700)) {
		t.Fatal("hourbell is installed on this machine; run the test in a container")
	}
	os.Remove("/var/lib/hourbell")
	h := &host{t: t, folder: t.TempDir(), ended: make(chan error, 1)}
	if err := os.WriteFile(filepath.Join(h.folder, "systemctl"), []byte(systemctl), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", h.folder+":"+os.Getenv("PATH"))
	var err error
	address := filepath.Join(h.folder, "notify")
	if h.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{filepath.Dir(h.folder): 0o755, h.folder: 0o755, address: 0o777} { // for the user of the unit
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	go h.listen()
	t.Cleanup(func() {
		h.socket.Close()
		if h.node != nil {
			h.node.Process.Kill()
		}
		exec.Command("dpkg", "--purge", "hourbell").Run()
		if t.Failed() {
			t.Logf("the node logged:\n%s", h.log.String())
		}
	})
	return h
}

// listen notes what the unit's process says to the service manager.
func (h *host) listen() {
	text := make([]byte, 4096)
	for {
		size, err := h.socket.Read(text)
		if err != nil {
			return
		}
		h.mu.Lock()
		h.said = append(h.said, string(text[:size]))
		h.mu.Unlock()
	}
}

// awaits waits until the unit's process has said something so many times.
func (h *host) awaits(what string, times int) {
	h.t.Helper()
	await(h.t, fmt.Sprintf("%s, %d times", what, times), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		count := 0
		for _, one := range h.said {
			if strings.HasPrefix(one, what) {
				count++
			}
		}
		return count >= times
	})
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// dpkg runs dpkg, which must succeed.
func (h *host) dpkg(args ...string) {
	h.t.Helper()
	if out, err := exec.Command("dpkg", args...).CombinedOutput(); err != nil {
		h.t.Fatalf("dpkg %q: %v\n%s", args, err, out)
	}
}

// start starts the unit's command as systemd would: its user, its folders, its environment.
func (h *host) start(options ...string) {
	h.t.Helper()
	of := unit(h.t)
	who, err := user.Lookup(of["User"][0])
	if err != nil {
		h.t.Fatal(err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	state := filepath.Join("/var/lib", of["StateDirectory"][0])
	if err := os.Mkdir(state, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Chown(state, uid, gid); err != nil {
		h.t.Fatal(err)
	}
	words := command(h.t, options...)
	h.node = exec.Command(words[0], words[1:]...)
	h.node.Dir = of["WorkingDirectory"][0]
	h.node.Env = append([]string{"PATH=/usr/bin:/bin", "STATE_DIRECTORY=" + state, "NOTIFY_SOCKET=" + h.socket.LocalAddr().String(), "WATCHDOG_USEC=1000000"}, of["Environment"]...)
	h.node.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	h.node.Stdout, h.node.Stderr = &h.log, &h.log
	if err := h.node.Start(); err != nil {
		h.t.Fatal(err)
	}
	pid := filepath.Join(h.folder, "pid")
	if err := os.WriteFile(pid, []byte(strconv.Itoa(h.node.Process.Pid)), 0o600); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		err := h.node.Wait()
		os.Remove(pid)
		h.ended <- err
	}()
}

// hourbell runs the installed program on the unit's store, and returns its output.
func (h *host) hourbell(args ...string) string {
	h.t.Helper()
	c := exec.Command("/usr/bin/hourbell", args...)
	c.Env = append(os.Environ(), unit(h.t)["Environment"]...)
	c.SysProcAttr = h.node.SysProcAttr
	out, err := c.CombinedOutput()
	if err != nil {
		h.t.Fatalf("hourbell %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestDeb installs a release, runs a job, upgrades to the next release while a command runs, removes and purges it.
func TestDeb(t *testing.T) {
	first, next := built(t, releaseVariable, "hourbell_*_amd64.deb"), built(t, nextVariable, "hourbell_*_amd64.deb")
	before := traces(t)
	h := newHost(t)
	h.dpkg("--install", first)
	for path, mode := range map[string]os.FileMode{"/usr/bin/hourbell": 0o755, "/etc/default/hourbell": 0o600, "/etc/hourbell/schedules.yaml": 0o644, "/usr/lib/systemd/system/hourbell.service": 0o644, notices: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if notes := h.notes(); strings.Contains(notes, "start") || strings.Contains(notes, "enable") {
		t.Errorf("the package started something: %s", notes)
	}

	h.start("--lease", "2s")
	h.awaits("READY=1", 1)
	h.awaits("WATCHDOG=1", 2)
	if out := h.output(h.hourbell("enqueue", "command", "--", "id", "-un")); out != "hourbell" {
		t.Errorf("the job printed %q", out)
	}
	const mine = "schedules:\n  - {name: mine, every: 1h, command: [echo, mine]}\n"
	if err := os.WriteFile("/etc/hourbell/schedules.yaml", []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	long := h.hourbell("enqueue", "command", "--", "sh", "-c", "echo begins; sleep 5; echo ends")
	await(t, "the long command", func() bool { return strings.Contains(h.hourbell("jobs", "show", long), "begins") })

	h.dpkg("--install", next)
	h.awaits("READY=1\nSTATUS=", 2)
	version := regexp.MustCompile(`hourbell_(.*)_amd64`).FindStringSubmatch(next)[1]
	if nodes := h.hourbell("nodes", "--output", "json"); !strings.Contains(nodes, `"`+version+`"`) {
		t.Errorf("the node has not the version %s: %s", version, nodes)
	}
	if out := h.output(long); out != "begins\nends" {
		t.Errorf("the command that ran through the upgrade printed %q", out)
	}
	if text, _ := os.ReadFile("/etc/hourbell/schedules.yaml"); string(text) != mine {
		t.Errorf("the upgrade has replaced the schedules by %s", text)
	}

	h.dpkg("--remove", "hourbell")
	select {
	case err := <-h.ended:
		if err != nil {
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the removal has not ended the node")
	}
	h.awaits("STOPPING=1", 1)
	if _, err := os.Stat("/usr/bin/hourbell"); err == nil {
		t.Error("the program is still there")
	}
	for _, path := range []string{"/var/lib/hourbell/hourbell.db", "/etc/hourbell/schedules.yaml"} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the removal has removed %s", path)
		}
	}
	h.dpkg("--purge", "hourbell")
	if left := traces(t); !slices.Equal(left, before) {
		t.Errorf("the purge has left %q", left)
	}
	if _, err := user.Lookup("hourbell"); err == nil {
		t.Error("the user is still there")
	}
}

// output waits until a job has completed, and returns its output.
func (h *host) output(id string) (out string) {
	h.t.Helper()
	var job struct{ State, Output string }
	await(h.t, "job "+id, func() bool {
		if err := json.Unmarshal([]byte(h.hourbell("jobs", "show", id, "--output", "json")), &job); err != nil {
			h.t.Fatal(err)
		}
		return job.State == "completed"
	})
	return strings.TrimSpace(job.Output)
}

// notes returns what systemctl was asked.
func (h *host) notes() string {
	text, _ := os.ReadFile(filepath.Join(h.folder, "notes"))
	return string(text)
}

// traces returns the files of packages and services whose paths have the name of the program.
func traces(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, root := range []string{"/etc", "/usr/bin", "/usr/lib/systemd", "/usr/share", "/var/lib", "/lib/systemd"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.Contains(filepath.Base(path), "hourbell") {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}

// TestRPM reads an rpm: its digests, its files and its scripts. It is not installed, because this machine is no system with rpm.
func TestRPM(t *testing.T) {
	file := built(t, releaseVariable, "hourbell_*_amd64.rpm")
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("needs rpm")
	}
	query := func(args ...string) string {
		out, err := exec.Command("rpm", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	query("--checksig", "--nosignature", file)
	if files := query("-qpl", file); !strings.Contains(files, "/usr/lib/systemd/system/hourbell.service") || !strings.Contains(files, notices) || !strings.Contains(files, "/usr/share/zsh/site-functions/_hourbell") {
		t.Errorf("the files are %s", files)
	}
	if scripts := query("-qp", "--scripts", file); !strings.Contains(scripts, "SIGUSR2") || !strings.Contains(scripts, "preuninstall") {
		t.Errorf("the scripts are %s", scripts)
	}
	if files := query("-qpc", file); strings.TrimSpace(files) != "/etc/default/hourbell\n/etc/hourbell/schedules.yaml" {
		t.Errorf("the settings are %s", files)
	}
}

// TestImage runs the program in the root of the image alone, as the image's user.
func TestImage(t *testing.T) {
	image := built(t, releaseVariable, "image_linux_amd64")
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	recipe, err := os.ReadFile(filepath.Join(image, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(recipe, []byte("\nFROM scratch\n")) || !bytes.Contains(recipe, []byte("\nUSER 65532:65532\n")) {
		t.Errorf("the recipe is\n%s", recipe)
	}
	root := filepath.Join(t.TempDir(), "root")
	if err := os.CopyFS(root, os.DirFS(filepath.Join(image, "root"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{notices, "/usr/share/doc/hourbell/LICENSE", "/usr/share/doc/ca-certificates/copyright"} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	data := filepath.Join(root, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	for folder := root; len(folder) > len(os.TempDir()); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(ctx context.Context, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, "/usr/bin/hourbell", args...)
		c.Dir, c.Env = "/data", []string{"HOURBELL_STORE=sqlite:/data/hourbell.db"}
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		return c
	}
	if out, err := run(t.Context(), "next", "--cron", "0 9 * * *", "--tz", "Europe/Prague").CombinedOutput(); err != nil {
		t.Errorf("a time zone: %v: %s", err, out)
	}
	port := freePort(t)
	node := run(t.Context(), "serve", "--probes", "127.0.0.1:"+port)
	var log bytes.Buffer
	node.Stderr = &log
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the probe /readyz", func() bool {
		answer, err := http.Get("http://127.0.0.1:" + port + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode == http.StatusOK
	})
	if err := node.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := node.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// TestChecksums checks the digests of all files of a release, and that no file is missing.
func TestChecksums(t *testing.T) {
	list := built(t, releaseVariable, "SHA256SUMS")
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	check.Dir = filepath.Dir(list)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(list), "hourbell_*"))
	if len(files) != strings.Count(string(text), "\n") {
		t.Errorf("%d files, and the list\n%s", len(files), text)
	}
}
