package deploy

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/yaml"
)

// folder is where program builds; it exists while the tests run.
var folder string

// program builds hourbell, once.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(folder, "hourbell")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "../cmd/hourbell"
	out, err := build.CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return file, err
})

// programFile returns the file of the program. A test that needs the program is left out with -short.
func programFile(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain removes what was built.
func testMain(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "hourbell-deploy-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	return m.Run()
}

// checkFlags checks that hourbell takes arguments, without running them.
func checkFlags(t *testing.T, args ...string) {
	t.Helper()
	file := programFile(t)
	out, err := exec.CommandContext(t.Context(), file, append(slices.Clone(args), "--help")...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Usage:") {
		t.Errorf("hourbell %q: %v\n%s", args, err, out)
	}
}

// stateDir returns the folder of the state file that arguments name: without it a node does not notice at its start that the store
// went back in time.
func stateDir(t *testing.T, args []string) string {
	t.Helper()
	at := slices.Index(args, "--state-dir")
	if at < 0 || at+1 == len(args) || !filepath.IsAbs(args[at+1]) {
		t.Fatalf("%q name no folder for the state file", args)
	}
	return args[at+1]
}

// checkSchedules checks a schedule file.
func checkSchedules(t *testing.T, text string) {
	t.Helper()
	file := programFile(t)
	check := exec.CommandContext(t.Context(), file, "check", "-")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s in\n%s", err, out, text)
	}
}

// TestKubernetes decodes every manifest strictly, and checks what pods promise: probes that answer, and more time to stop than
// a node takes.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile("kubernetes/hourbell.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var set apps.StatefulSet
	kinds := map[string]any{
		"ConfigMap": &core.ConfigMap{}, "StatefulSet": &set, "PodDisruptionBudget": &policy.PodDisruptionBudget{}, "Service": &core.Service{},
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var kind meta.TypeMeta
		if err := strict.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		into, known := kinds[kind.Kind]
		if !known {
			t.Errorf("a manifest of kind %q", kind.Kind)
			continue
		}
		if err := strict.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		delete(kinds, kind.Kind)
	}
	for kind := range kinds {
		if kind != "" {
			t.Errorf("there is no %s", kind)
		}
	}
	pod := set.Spec.Template.Spec
	one := pod.Containers[0]
	const drain, rest = 30 * time.Second, 5 * time.Second
	before := time.Duration(one.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < before+drain+rest {
		t.Errorf("a pod has %v to stop, and needs %v", grace, before+drain+rest)
	}
	if live, ready := one.LivenessProbe.HTTPGet.Path, one.ReadinessProbe.HTTPGet.Path; live != "/healthz" || ready != "/readyz" {
		t.Errorf("probes ask %s and %s", live, ready)
	}
	if port := one.Args[slices.Index(one.Args, "--probes")+1]; port != ":8081" || one.Ports[0].ContainerPort != 8081 {
		t.Errorf("probes at %s", port)
	}
	volume := "" // of the folder of the state file
	for _, mount := range one.VolumeMounts {
		if mount.MountPath == stateDir(t, one.Args) && !mount.ReadOnly {
			volume = mount.Name
		}
	}
	if !slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(claim core.PersistentVolumeClaim) bool { return claim.Name == volume }) {
		t.Errorf("the folder of the state file is in the volume %q, which does not outlive its pod", volume)
	}
	if pod.SecurityContext.FSGroup == nil || *pod.SecurityContext.FSGroup != *pod.SecurityContext.RunAsGroup {
		t.Error("the node may not write to its volumes")
	}
	checkFlags(t, one.Args...)
	var settings core.ConfigMap
	if err := strict.Unmarshal(bytes.Split(text, []byte("\n---\n"))[0], &settings); err != nil {
		t.Fatal(err)
	}
	checkSchedules(t, settings.Data["schedules.yaml"])
}

// TestCompose checks the flags of the services, and that the time to stop is longer than a node takes.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command []string `yaml:"command"`
			Grace   string   `yaml:"stop_grace_period"`
			Volumes []string `yaml:"volumes"`
		} `yaml:"services"`
		Volumes map[string]any `yaml:"volumes"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	node := file.Services["hourbell"]
	checkFlags(t, node.Command...)
	volume := "" // of the folder of the state file
	for _, mount := range node.Volumes {
		if name, at, _ := strings.Cut(mount, ":"); at == stateDir(t, node.Command) {
			volume = name
		}
	}
	if _, kept := file.Volumes[volume]; !kept || strings.HasPrefix(file.Services["database"].Volumes[0], volume+":") {
		t.Errorf("the folder of the state file is in %q, which is no volume of its own", volume)
	}
	if grace, err := time.ParseDuration(node.Grace); err != nil || grace < 35*time.Second {
		t.Errorf("a node has %s to stop", node.Grace)
	}
	mounted, _, _ := strings.Cut(node.Volumes[0], ":")
	schedules, err := os.ReadFile(mounted)
	if err != nil {
		t.Fatal(err)
	}
	checkSchedules(t, string(schedules))
	checkSchedules(t, strings.ReplaceAll(strings.ReplaceAll(string(schedules), "schedules: []", "schedules:"), "\n#  ", "\n  "))
}

// unit returns the settings of a section of the systemd unit, in their order.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("packages/hourbell.service")
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	return settings
}

// command returns the command that the unit starts, as systemd would split it, with flags for $HOURBELL_OPTIONS.
func command(t *testing.T, options ...string) []string {
	t.Helper()
	words := strings.Fields(unit(t)["ExecStart"][0])
	at := slices.Index(words, "$HOURBELL_OPTIONS")
	if at < 0 {
		t.Fatalf("the unit starts %q", words)
	}
	return slices.Concat(words[:at], options, words[at+1:])
}

// changes returns the changes of the unit in docs/install.md. Each checks its flags, if it has any.
func changes(t *testing.T) (found [][]byte) {
	t.Helper()
	text, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```ini\n(.*?)```").FindAllSubmatch(text, -1) {
		found = append(found, block[1])
		for _, line := range regexp.MustCompile("(?m)^ExecStart=/usr/bin/hourbell (.*)$").FindAllSubmatch(block[1], -1) {
			checkFlags(t, strings.Fields(strings.ReplaceAll(string(line[1]), "$HOURBELL_OPTIONS", ""))...)
		}
	}
	if len(found) == 0 {
		t.Error("docs/install.md has no changes of the unit")
	}
	return found
}

// TestUnit checks the flags of the systemd unit and of its settings, its time to stop, and systemd's own opinion of it.
func TestUnit(t *testing.T) {
	settings, err := os.ReadFile("packages/environment")
	if err != nil {
		t.Fatal(err)
	}
	_, options, found := strings.Cut(string(settings), "\n#HOURBELL_OPTIONS=")
	if !found {
		t.Error("the settings have no example of options")
	}
	checkFlags(t, command(t, strings.Fields(options)...)[1:]...)
	of := unit(t)
	if stop, err := time.ParseDuration(of["TimeoutStopSec"][0] + "s"); err != nil || stop < 35*time.Second || of["KillMode"][0] != "mixed" || of["Type"][0] != "notify" {
		t.Errorf("the unit has %v", of)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	folder := t.TempDir()
	text, _ := os.ReadFile("packages/hourbell.service")
	file := programFile(t)
	path := filepath.Join(folder, "hourbell.service")
	text = bytes.ReplaceAll(text, []byte("/usr/bin/hourbell"), []byte(file)) // verify looks for the program
	text = bytes.ReplaceAll(text, []byte("Documentation=man:hourbell-serve(1)\n"), nil)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, change := range changes(t) { // as the documentation has them
		one := filepath.Join(folder, fmt.Sprintf("changed%d.service", i))
		if err := os.Mkdir(one+".d", 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string][]byte{one: text, filepath.Join(one+".d", "change.conf"): bytes.ReplaceAll(change, []byte("/usr/bin/hourbell"), []byte(file))} {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--recursive-errors=no", one).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze verify with %s: %v\n%s", change, err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--recursive-errors=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=25", path).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	t.Log(lines[len(lines)-1])
}
