package proof

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAnAlertNamesTheSchedule runs two nodes that a real Prometheus observes with the
// alerts of deploy/prometheus. When the only node that may run the command of a schedule
// is killed, the alert about missed slots fires and names the schedule.
func TestAnAlertNamesTheSchedule(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("HOURBELL_TEST_REQUIRE") != "" {
			t.Fatal("prometheus is missing; on Debian it is in the package prometheus")
		}
		t.Skip("prometheus is missing; on Debian it is in the package prometheus")
	}
	store := serverStore(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("nightly.yaml", "schedules:\n  - {name: nightly, every: 1s, grace: 1s, command: [\"true\"]}\n")
	first, second, own := freeAddress(t), freeAddress(t), freeAddress(t)
	a := serve(t, store, "--commands", "declared", "--file", file, "--probes", first, "--probes-metrics")
	serve(t, store, "--commands", "declared", "--probes", second, "--probes-metrics")

	alerts, err := os.ReadFile("../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := write("prometheus.yml", fmt.Sprintf(`global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%s]
scrape_configs:
  - job_name: hourbell
    static_configs: [{targets: [%q, %q]}]
`, write("alerts.yml", string(alerts)), first, second))
	start(t, exec.Command(binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+own))

	until(t, time.Minute, "slots that fired and are scraped", func() bool {
		return len(query(t, own, `hourbell_slots_total{schedule="nightly",outcome="fired"} > 2`)) > 0
	})
	if found := query(t, own, `ALERTS{alertname="HourbellSlotsMissed"}`); len(found) > 0 {
		t.Fatalf("an alert before the death: %v", found)
	}
	a.kill()
	until(t, 2*time.Minute, "the alert", func() bool {
		for _, labels := range query(t, own, `ALERTS{alertname="HourbellSlotsMissed",alertstate="firing"}`) {
			if labels["schedule"] == "nightly" {
				return true
			}
		}
		return false
	})
	until(t, time.Minute, "the alert about the node", func() bool {
		return len(query(t, own, `ALERTS{alertname="HourbellNodeDied",alertstate="firing"}`)) > 0
	})
}

// freeAddress returns an address of this computer that is free at present.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// query returns the labels of what a Prometheus finds; nothing while it does not answer.
func query(t *testing.T, address, text string) (found []map[string]string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/query", nil)
	if err != nil {
		t.Fatal(err)
	}
	values := r.URL.Query()
	values.Set("query", text)
	r.URL.RawQuery = values.Encode()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil // it starts
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
			} `json:"result"`
		} `json:"data"`
	}
	if json.NewDecoder(response.Body).Decode(&answer) != nil {
		return nil
	}
	for _, one := range answer.Data.Result {
		found = append(found, one.Metric)
	}
	return found
}
