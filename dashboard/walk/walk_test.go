// Package walk walks over the pages with a browser.
package walk

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe is the release of axe-core, which finds what people who cannot see or use a mouse
// would stumble over. It is not part of the repository.
const axe = "axe-core@4.14.1"

// pages are all pages of the demo, and a text that each has.
var pages = map[string]string{
	"":                              "Running now",
	"schedules":                     "month-end/close",
	"schedule?name=sync-orders":     "overlap",
	"schedule?name=month-end/close": "America/New_York",
	"whatif?name=nightly-report&cron=30+2+*+*+*&tz=Europe/Prague&from=2027-03-27T00:00:00Z&to=2027-03-30T00:00:00Z": "clock",
	"jobs":                             "sync",
	"jobs?state=failed&kind=charge":    "card expired",
	"job?id=1":                         "report",
	"confirm?action=retry&kind=charge": "Nothing has been changed yet",
	"backfill?name=nightly-report&from=2026-01-12T00:00:00Z&to=2026-01-15T00:00:00Z&force=true": "Nothing has been changed yet",
	"slots": "prices", "queues": "mail", "kinds": "mail", "groups": "reports", "nodes": "north", "batches": "Batches", "events": "completed", "handlers": "tell-shop", "handler?name=tell-shop": "shop@example.com",
	"audit": "schedules put", "audit?action=handlers+put&since=1h": "tell-shop", "calendars": "holidays", "calendar?name=holidays": "nightly-report", "nothing": "no such page",
	"stats": "up to the last minute", "find?q=n": "newsletter", "edit-schedule": "How late a slot may be found", "edit-schedule?name=newsletter": "It belongs to demo", "limits": "New limit",
	"edit-limit": "How many jobs run at a time", "edit-calendar?name=holidays": "12-25", "edit-handler?name=tell-shop": "The events that make a job",
	"jobs?args=order%3D2802": "charge", "pause?of=kind&name=mail": "Failures a minute", "pause?of=queue&name=mail": "Pause until",
}

// walk is a running demo and a browser.
type walk struct {
	*testing.T
	url     string
	browser context.Context
}

// TestWalk walks over the pages of `hourbell demo`.
func TestWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	w := &walk{T: t}
	w.start()
	w.open()
	w.waitFor("jobs?group=shop&state=failed", "3 failed jobs", func(body string) bool { return strings.Count(body, `href="job?id=`) == 3 })
	w.waitFor("slots?schedule=sync-orders", "a skipped slot", func(body string) bool { return strings.Contains(body, "overlap") })

	t.Run("without JavaScript", func(t *testing.T) { w.in(t).readAll(false) })
	t.Run("with JavaScript", func(t *testing.T) { w.in(t).readAll(true) })
	t.Run("the server is away", func(t *testing.T) { w.in(t).away() })
	t.Run("another tab changes", func(t *testing.T) { w.in(t).otherTab() })
	t.Run("follow the output of a handler", func(t *testing.T) { w.in(t).follow("report", " written") })
	t.Run("follow the output of a command", func(t *testing.T) { w.in(t).follow("command", " copied") })
	t.Run("find by keyboard", func(t *testing.T) { w.in(t).find() })
	t.Run("make, edit and delete a schedule", func(t *testing.T) { w.in(t).edit() })
	t.Run("make, edit and delete other definitions", func(t *testing.T) { w.in(t).define() })
	t.Run("find by arguments", func(t *testing.T) { w.in(t).findByArgs() })
	t.Run("the progress of a change of many jobs", func(t *testing.T) { w.in(t).progress() })
	t.Run("retry by filter", func(t *testing.T) { w.in(t).retry() })
	if folder := os.Getenv("HOURBELL_SCREENSHOTS"); folder != "" {
		w.screenshots(folder)
	}
}

func (w *walk) in(t *testing.T) *walk { return &walk{T: t, url: w.url, browser: w.browser} }

func (w *walk) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// start builds the program and starts the demo.
func (w *walk) start() {
	program := filepath.Join(w.TempDir(), "hourbell")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = "../../cmd/hourbell", append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, text)
	}
	demo := exec.Command(program, "demo", "--listen", "127.0.0.1:0")
	demo.Stderr = os.Stderr
	out, err := demo.StdoutPipe()
	w.must(err)
	w.must(demo.Start())
	w.Cleanup(func() {
		demo.Process.Signal(syscall.SIGTERM)
		if err := demo.Wait(); err != nil {
			w.Errorf("the demo ended: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	w.must(err)
	w.url = strings.TrimSpace(strings.TrimPrefix(line, "pages: "))
	go io.Copy(io.Discard, out)
}

// open starts the browser.
func (w *walk) open() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("HOURBELL_TEST_REQUIRE") != "":
		w.Fatal("chromium is missing; scripts/install-deps chromium installs it")
	case path == "":
		w.Skip("chromium is missing; scripts/install-deps chromium installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute)) //nolint:gocritic // a copy
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	w.Cleanup(stop)
	browser, end := chromedp.NewContext(allocated)
	w.Cleanup(end)
	w.must(chromedp.Run(browser))
	w.browser = browser
}

// tab opens a tab. What the browser complains about fails the test.
func (w *walk) tab() context.Context {
	w.Helper()
	tab, end := chromedp.NewContext(w.browser)
	w.Cleanup(end)
	chromedp.ListenTarget(tab, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.Errorf("the script of a page failed: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !strings.HasSuffix(e.Entry.URL, "/nothing") && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
				w.Errorf("the browser complains: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	limited, stop := context.WithTimeout(tab, 5*time.Minute)
	w.Cleanup(stop)
	w.must(chromedp.Run(limited, log.Enable()))
	return limited
}

// fetch returns a page without a browser.
func (w *walk) fetch(path string) string {
	w.Helper()
	res, err := http.Get(w.url + path)
	w.must(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	w.must(err)
	return string(body)
}

// waitTime is how long waitFor waits: pictures are taken when there is something to see.
const waitTime = 10 * time.Minute

// waitFor waits until a page shows something.
func (w *walk) waitFor(path, what string, shows func(body string) bool) {
	w.Helper()
	for deadline := time.Now().Add(waitTime); !shows(w.fetch(path)); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("%s does not show %s", path, what)
		}
	}
}

// readAll opens each page, and looks for mistakes with axe.
func (w *walk) readAll(script bool) {
	tab := w.tab()
	code := ""
	if script {
		code = w.axe()
	} else {
		w.must(chromedp.Run(tab, emulation.SetScriptExecutionDisabled(true)))
	}
	for path, part := range pages {
		var text string
		w.must(chromedp.Run(tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(w.url+path), chromedp.WaitVisible("main h1"), chromedp.Text("main", &text, chromedp.NodeVisible)))
		if !strings.Contains(text, part) {
			w.Errorf("%s does not show %q:\n%s", path, part, text)
		}
		if folder := os.Getenv("HOURBELL_PAGES"); folder != "" && script {
			w.keep(tab, folder, path)
		}
		if code != "" {
			w.check(tab, path, code)
		}
		if script {
			w.onPhone(tab, path, code)
		}
	}
}

// scheme has the browser prefer light or dark pages.
func scheme(name string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
}

// onPhone checks that a page and its tables are as wide as a tablet, that the page is as wide as a phone, there in the dark, and that its
// navigation is one row.
func (w *walk) onPhone(tab context.Context, path, code string) {
	var onTablet int
	w.must(chromedp.Run(tab, scheme("dark"), chromedp.EmulateViewport(768, 1024), chromedp.Evaluate("document.documentElement.scrollWidth", &onTablet)))
	var wide []string
	w.must(chromedp.Run(tab, chromedp.Evaluate(
		`[...document.querySelectorAll(".scroll")].filter((e) => e.querySelector("table") && e.scrollWidth > e.clientWidth).map((e) => e.getAttribute("aria-label") + " " + e.scrollWidth)`, &wide)))
	if len(wide) > 0 {
		w.Errorf("%s: tables are wider than a tablet: %v", path, wide)
	}
	if onTablet > 768 {
		w.Errorf("%s: the page is %d pixels wide on a tablet", path, onTablet)
	}
	if folder := os.Getenv("HOURBELL_PAGES"); folder != "" {
		w.keep(tab, folder, "tablet-"+path)
	}
	var width, rows int
	var widest string
	w.must(chromedp.Run(tab, chromedp.EmulateViewport(390, 844), chromedp.Evaluate("document.documentElement.scrollWidth", &width), chromedp.Evaluate(
		`new Set([...document.querySelectorAll("nav > ul > li:not(.wide)")].map((e) => e.offsetTop)).size`, &rows),
		chromedp.Evaluate(`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > 391).slice(-2)
			.map((e) => e.outerHTML.slice(0, 200)).join(" … ")`, &widest)))
	if width > 390 || rows != 1 {
		w.Errorf("%s: the page is %d pixels wide on a phone, with %d rows of navigation; too wide: %s", path, width, rows, widest)
	}
	if folder := os.Getenv("HOURBELL_PAGES"); folder != "" {
		w.keep(tab, folder, "phone-"+path)
	}
	if code != "" {
		w.check(tab, path+" on a phone, in the dark", code)
	}
	w.must(chromedp.Run(tab, scheme("light")))
}

// away looks at an open page while the server answers 500, and when it answers again.
func (w *walk) away() {
	to, err := url.Parse(w.url)
	w.must(err)
	var broken atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(to)
	forward.ErrorLog = stdlog.New(io.Discard, "", 0)
	proxy := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(to, "broken", http.StatusInternalServerError)
			return
		}
		r.Header["X-Forwarded-For"] = nil // a node without users refuses what a proxy forwards
		forward.ServeHTTP(to, r)
	}))
	defer proxy.Close()
	tab, end := chromedp.NewContext(w.browser) // the browser may complain here
	defer end()
	w.must(chromedp.Run(tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(proxy.URL+"/"), chromedp.WaitVisible("#live.good")))
	broken.Store(true)
	proxy.CloseClientConnections()
	var text string
	w.must(chromedp.Run(tab, chromedp.WaitVisible("body.away #away"), chromedp.Text("#away", &text)))
	if !strings.HasPrefix(text, "As of ") || !strings.Contains(text, " s ago") {
		w.Errorf("the page says %q", text)
	}
	if folder := os.Getenv("HOURBELL_PAGES"); folder != "" {
		w.keep(tab, folder, "away")
	}
	broken.Store(false)
	w.must(chromedp.Run(tab, chromedp.WaitNotVisible("#away"), chromedp.WaitVisible("#live.good"), chromedp.Navigate("about:blank")))
	proxy.CloseClientConnections()
}

// keep writes a picture of the whole page in the tab to a folder, named after its path.
func (w *walk) keep(tab context.Context, folder, path string) {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("?&=/:+", r) {
			return '-'
		}
		return r
	}, cmp.Or(path, "overview"))
	var picture []byte
	w.must(chromedp.Run(tab, chromedp.FullScreenshot(&picture, 100)))
	w.must(os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
}

// axe returns the code of axe-core, from npm; empty without npm.
func (w *walk) axe() string {
	folder := w.TempDir()
	pack := exec.Command("npm", "pack", "--silent", axe)
	pack.Dir = folder
	if text, err := pack.CombinedOutput(); err != nil {
		w.Logf("the pages are not checked by axe-core, because npm does not fetch it: %v %s", err, text)
		return ""
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	w.must(err)
	code, err := exec.Command("tar", "-xzOf", archives[0], "package/axe.min.js").Output()
	w.must(err)
	return string(code)
}

// check fails if axe finds something on a page.
func (w *walk) check(tab context.Context, path, code string) {
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	var raw json.RawMessage
	w.must(chromedp.Run(tab, chromedp.Evaluate(code+";0", nil), chromedp.Evaluate(
		`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`, &raw, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })))
	w.must(json.Unmarshal(raw, &found))
	for _, f := range found {
		w.Errorf("%s: %s: %s: %+v", path, f.ID, f.Help, f.Nodes)
	}
}

// otherTab pauses a schedule in one tab, and sees it in another.
func (w *walk) otherTab() {
	watching, acting := w.tab(), w.tab()
	w.must(chromedp.Run(watching, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url+"schedule?name=newsletter"), chromedp.WaitVisible("#state .good"), chromedp.Evaluate("window.here = true", nil)))
	w.must(chromedp.Run(
		acting, chromedp.Navigate(w.url+"schedule?name=newsletter"), chromedp.SendKeys(`input[name=until]`, "2h"),
		chromedp.Click(`//button[text()="Pause"]`), chromedp.WaitVisible(".flash"),
	))
	var state string
	var here bool
	w.must(chromedp.Run(watching, chromedp.WaitVisible("#state .warn"), chromedp.Text("#state", &state), chromedp.Evaluate("window.here === true", &here)))
	if state != "paused" || !here {
		w.Errorf("the other tab shows %q; it was not loaded again: %v", state, here)
	}
}

// follow sees the output of a running job of a kind grow by lines with a text, without loading the page again, and
// without JavaScript by loading it.
func (w *walk) follow(kind, line string) {
	var links []string
	tab := w.tab()
	w.must(chromedp.Run(
		tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url+"jobs?state=running&kind="+kind), chromedp.WaitVisible("main h1"),
		chromedp.Evaluate(`[...document.querySelectorAll('a[href^="job?id="]')].map((a) => a.getAttribute("href"))`, &links),
	))
	if len(links) == 0 {
		w.Fatalf("no job of kind %s runs", kind)
	}
	var first, second string
	var here bool
	w.must(chromedp.Run(
		tab, chromedp.Navigate(w.url+links[0]), chromedp.WaitVisible("#printing pre"), chromedp.Text("#printing pre", &first), chromedp.Evaluate("window.here = true", nil),
		chromedp.Poll(fmt.Sprintf(`document.querySelector("#printing pre").innerText.trim().length > %d`, len(strings.TrimSpace(first))), nil),
		chromedp.Text("#printing pre", &second), chromedp.Evaluate("window.here === true", &here),
	))
	if !strings.Contains(first, line) || !strings.HasPrefix(second, strings.TrimSpace(first)) || !here {
		w.Errorf("the page was not loaded again: %v; first\n%s\nthen\n%s", here, first, second)
	}
	if body := w.fetch(links[0]); !strings.Contains(body, "Output so far") {
		w.Errorf("without JavaScript:\n%s", body)
	}
}

// find goes to a schedule by the keyboard alone, and without JavaScript.
func (w *walk) find() {
	tab := w.tab()
	var title string
	w.must(chromedp.Run(
		tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url+"nodes"), chromedp.WaitVisible("#live.good"),
		// As a browser does, and chromedp.KeyEvent does not, the key makes no letter if the page takes it.
		input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), input.DispatchKeyEvent(input.KeyUp).WithKey("/"), chromedp.KeyEvent("newsl"),
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible("#timeline"), chromedp.Text("h1", &title),
	))
	if !strings.HasPrefix(title, "newsletter") {
		w.Errorf("the search led to %q", title)
	}
	w.must(chromedp.Run(
		tab, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(w.url), chromedp.SendKeys(".find input", "sync-o"+kb.Enter), chromedp.WaitVisible("#timeline"),
		chromedp.Text("h1", &title),
	))
	if !strings.HasPrefix(title, "sync-orders") {
		w.Errorf("without JavaScript, the search led to %q", title)
	}
}

// edit makes a schedule with a live preview, edits it while another tab does, and deletes it.
func (w *walk) edit() {
	tab, other := w.tab(), w.tab()
	var first, conflict, flash string
	w.must(chromedp.Run(
		tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url+"edit-schedule"), chromedp.SendKeys("#field-name", "walked"), chromedp.SendKeys("#field-kind", "mail"),
		chromedp.SendKeys("#field-on_failure", `mail {"to":"ops"}`), chromedp.SendKeys("#field-cron", "0 9 1 1 *"), chromedp.WaitVisible("#preview ol"), chromedp.Text("#preview", &first),
		chromedp.Click("button.main"), chromedp.WaitVisible(".flash"), chromedp.Navigate(w.url+"edit-schedule?name=walked"), chromedp.WaitVisible("#field-queue"),
	))
	if !strings.Contains(first, "-01-01 09:00:00") {
		w.Errorf("the live preview shows %q", first)
	}
	if page := w.fetch("schedule?name=walked"); !strings.Contains(page, "on failure") || !strings.Contains(page, "ops") {
		w.Errorf("the schedule has no hook:\n%s", page)
	}
	w.must(chromedp.Run(
		other, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(w.url+"edit-schedule?name=walked"), chromedp.SetValue("#field-overlap", "allow"), chromedp.Click("button.main"),
		chromedp.WaitVisible(".flash"),
	))
	t, stop := chromedp.NewContext(w.browser) // the browser complains of the answer 409
	defer stop()
	w.must(chromedp.Run(
		t, chromedp.Navigate(w.url+"edit-schedule?name=walked"), chromedp.SetValue("#field-priority", "2"), chromedp.SetValue("input[name=revision]", "1"), chromedp.Click("button.main"),
		chromedp.WaitVisible("#problem table"), chromedp.Text("#problem", &conflict), chromedp.Click("button.main"), chromedp.WaitVisible(".flash"),
	))
	if !strings.Contains(conflict, "priority") || !strings.Contains(conflict, "revision 2") {
		w.Errorf("the conflict shows %q", conflict)
	}
	w.must(chromedp.Run(
		tab, chromedp.Navigate(w.url+"edit-schedule"), chromedp.SendKeys("#field-name", "walked later"), chromedp.SendKeys("#field-kind", "mail"),
		chromedp.SendKeys("#field-after", "walked:failure:5m"), chromedp.Click("button.main"), chromedp.WaitVisible(".flash"),
	))
	if page := w.fetch("schedule?name=walked+later"); !strings.Contains(page, "walked:failure:5m") {
		w.Errorf("the schedule does not follow the other:\n%s", page)
	}
	for _, name := range []string{"walked later", "walked"} {
		w.must(chromedp.Run(
			tab, chromedp.Navigate(w.url+"edit-schedule?name="+url.QueryEscape(name)), chromedp.Click(".danger summary"), chromedp.Click(`//button[text()="Delete the schedule"]`),
			chromedp.WaitVisible(".flash"), chromedp.Text(".flash", &flash),
		))
		if !strings.Contains(flash, "is deleted") {
			w.Errorf("then %q", flash)
		}
	}
}

// define makes a calendar, a handler and a limit by their forms, changes each while another tab does, and deletes it.
func (w *walk) define() {
	for thing, c := range map[string]struct {
		values       map[string]string
		theirs, mine [2]string // a field and its value
	}{
		"calendar": {map[string]string{"dates": "2090-12-25"}, [2]string{"tz", "Europe/Prague"}, [2]string{"weekdays", "sun"}},
		"handler":  {map[string]string{"on": "failure, missed", "job": "mail"}, [2]string{"group", "shop"}, [2]string{"on", "recovery"}},
		"limit":    {map[string]string{"queue": "mail", "concurrency": "50"}, [2]string{"kind", "mail"}, [2]string{"concurrency", "70"}},
	} {
		tab, other := w.tab(), w.tab()
		old, stop := chromedp.NewContext(w.browser) // the browser complains of the answer 409
		defer stop()
		edit := w.url + "edit-" + thing + "?name=walked"
		fill := []chromedp.Action{chromedp.Navigate(w.url + "edit-" + thing), chromedp.SendKeys("#field-name", "walked")}
		for field, value := range c.values {
			fill = append(fill, chromedp.SendKeys("#field-"+field, value))
		}
		var conflict, flash string
		w.must(chromedp.Run(tab, append(fill, chromedp.Click("button.main"), chromedp.WaitVisible(".flash"))...))
		w.must(chromedp.Run(old, chromedp.Navigate(edit), chromedp.SetValue("#field-"+c.mine[0], c.mine[1])))
		w.must(chromedp.Run(
			other, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(edit), chromedp.SetValue("#field-"+c.theirs[0], c.theirs[1]), chromedp.Click("button.main"),
			chromedp.WaitVisible(".flash"),
		))
		w.must(chromedp.Run(old, chromedp.Click("button.main"), chromedp.WaitVisible("#problem table"), chromedp.Text("#problem", &conflict)))
		if !strings.Contains(conflict, c.theirs[1]) || !strings.Contains(conflict, c.mine[1]) {
			w.Errorf("%s: the conflict shows %q", thing, conflict)
		}
		if folder := os.Getenv("HOURBELL_PAGES"); folder != "" {
			w.keep(old, folder, "conflict-"+thing)
		}
		w.must(chromedp.Run(old, chromedp.Click("button.main"), chromedp.WaitVisible(".flash")))
		if page := w.fetch(thing + "?name=walked"); !strings.Contains(page, c.mine[1]) {
			w.Errorf("%s: its page does not show %v:\n%s", thing, c.mine, page)
		}
		w.must(chromedp.Run(
			tab, chromedp.Navigate(edit), chromedp.Click(".danger summary"), chromedp.Click(`//button[text()="Delete the `+thing+`"]`),
			chromedp.WaitVisible(".flash"), chromedp.Text(".flash", &flash),
		))
		if page := w.fetch(thing + "s"); !strings.Contains(flash, "is deleted") || strings.Contains(page, "name=walked") {
			w.Errorf("%s: then %q", thing, flash)
		}
	}
}

// findByArgs goes to a job by a value in its arguments, by the keyboard alone.
func (w *walk) findByArgs() {
	tab := w.tab()
	var rows int
	w.must(chromedp.Run(
		tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url), chromedp.SendKeys(".find input", "args.order=2802"+kb.Enter),
		chromedp.WaitVisible(`form.filter input[name=args][value="order=2802"]`), chromedp.Evaluate(`document.querySelectorAll("#listing tbody tr").length`, &rows),
	))
	if rows != 1 {
		w.Errorf("%d jobs are listed, and not 1", rows)
	}
}

// progress enqueues many jobs, and sees how far it has come to delete them.
func (w *walk) progress() {
	const batches = 5
	for range batches {
		var body strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&body, `%s{"kind":"step","queue":"later","args":{"seconds":1},"at":"2090-01-01T00:00:00Z"}`, map[bool]string{true: `{"jobs":[`, false: ","}[i == 0])
		}
		body.WriteString("]}")
		res, err := http.Post(w.url+"api/v1/jobs/many", "application/json", strings.NewReader(body.String()))
		w.must(err)
		res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			w.Fatalf("many jobs: status %d", res.StatusCode)
		}
	}
	tab := w.tab()
	var said string
	w.must(chromedp.Run(
		tab, emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(w.url+"jobs?queue=later"), chromedp.SetValue(`form:not(#chosen) select[name=action]`, "delete"),
		chromedp.Click(`//button[starts-with(text(), "Count first")]`), chromedp.WaitVisible("button.main"), chromedp.Click("button.main"),
		chromedp.WaitVisible("#progress progress"),
	))
	if folder := os.Getenv("HOURBELL_PAGES"); folder != "" {
		w.keep(tab, folder, "progress")
	}
	w.must(chromedp.Run(tab, chromedp.WaitVisible("#progress .good"), chromedp.Text("#progress", &said)))
	if !strings.Contains(said, fmt.Sprintf("%d jobs deleted", batches*10_000)) {
		w.Errorf("the page says %q", said)
	}
}

// retry retries the failed jobs of a group, after their count was shown.
func (w *walk) retry() {
	tab := w.tab()
	var would, flash string
	w.must(chromedp.Run(
		tab, chromedp.Navigate(w.url+"jobs?state=failed&group=shop"), chromedp.SetValue(`select[name=action]`, "retry"), chromedp.Click(`//button[starts-with(text(), "Count first")]`),
		chromedp.WaitVisible("button.main"), chromedp.Text("main p", &would), chromedp.Click("button.main"), chromedp.WaitVisible(".flash"), chromedp.Text(".flash", &flash),
	))
	if !strings.Contains(would, "3 jobs ready to run again") || !strings.Contains(flash, "3 jobs ready to run again") {
		w.Errorf("first %q, then %q", would, flash)
	}
	w.waitFor("jobs?group=shop&state=completed", "3 completed jobs", func(body string) bool { return strings.Count(body, `href="job?id=`) == 3 })
}

// screenshots writes pictures of some pages.
func (w *walk) screenshots(folder string) {
	w.waitFor("slots?schedule=sync-orders", "a few minutes of slots", func(body string) bool { return strings.Count(body, "overlap: ") >= 22 })
	graph := ""
	w.waitFor("jobs?kind=step", "the job of a graph", func(body string) bool {
		for _, id := range strings.Split(body, `href="job?id=`)[1:] {
			number, _, _ := strings.Cut(id, `"`)
			if strings.Contains(w.fetch("job?id="+number), "and 4 jobs before it") {
				graph = "job?id=" + number
			}
		}
		return graph != ""
	})
	for name, shot := range map[string]struct {
		path   string
		height int64
		dark   bool
	}{
		"overview": {"", 860, false}, "schedule": {"schedule?name=sync-orders", 780, true}, "job": {graph, 700, false},
	} {
		colours := "light"
		if shot.dark {
			colours = "dark"
		}
		var picture []byte
		w.must(chromedp.Run(
			w.tab(), scheme(colours),
			chromedp.EmulateViewport(1180, shot.height), chromedp.Navigate(w.url+shot.path), chromedp.WaitVisible("#live.good, #simulation"),
			chromedp.ActionFunc(func(ctx context.Context) (err error) {
				picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
				return err
			}),
		))
		w.must(os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
		fmt.Fprintln(os.Stderr, name, len(picture), "bytes")
	}
}
