package hourbelltest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// goroutines are the goroutines that a test starts after it has made a kit. Each inherits a label from the goroutine that
// started it, so that the goroutines of tests that run in parallel do not count. If a test makes several kits, the goroutines
// that it starts later are of the newest kit, whose clients are stopped first.
type goroutines struct {
	label   string
	ignored []string
}

// labelKey is the key of the label.
const labelKey = "hourbelltest"

// pools are functions of goroutines that pools of connections keep. They end when the pool is closed,
// which may be after the kit.
var pools = []string{"database/sql.(*DB).", "net/http.(*persistConn).", "net/http.(*http2ClientConn).", "github.com/jackc/pgx/v5/", "github.com/jackc/puddle/"}

// markGoroutines gives the label of a kit to the goroutine of the test.
func markGoroutines(t testing.TB, k *Kit, ignored []string) goroutines {
	g := goroutines{fmt.Sprintf("%s %p", t.Name(), k), slices.Concat(pools, ignored)}
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(labelKey, g.label)))
	return g
}

// packageOf returns the start of the names of functions of the package of a backend.
func packageOf(backend store.Backend) string {
	kind := reflect.TypeOf(backend)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	return kind.PkgPath() + "."
}

// goroutinesEnd is how long goroutines may run after the end of a test.
const goroutinesEnd = 2 * time.Second

// check fails the test if goroutines outlive it. It is called by the goroutine of the test.
func (g goroutines) check(t testing.TB) {
	pprof.SetGoroutineLabels(context.Background())
	var left []string
	for begun := time.Now(); time.Since(begun) < goroutinesEnd; time.Sleep(time.Millisecond) {
		if left = g.left(); len(left) == 0 {
			return
		}
	}
	t.Errorf("hourbelltest: goroutines outlive the test:\n\n%s\n\nIf the goroutine ends later on purpose, use IgnoreGoroutines.", strings.Join(left, "\n\n"))
}

// left returns the stacks of the goroutines that run.
func (g goroutines) left() (stacks []string) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // never fails
	label := fmt.Sprintf("%q:%q", labelKey, g.label)
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		ignored := func(function string) bool { return strings.Contains(stack, function) }
		if strings.Contains(stack, label) && !slices.ContainsFunc(g.ignored, ignored) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
