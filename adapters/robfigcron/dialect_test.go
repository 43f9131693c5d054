package robfigcron_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/recur"
)

// TestDialect compares the dialect kubernetes with robfig/cron itself: random rules, of five fields and of six, from
// random instants, half of them near a change of the clock.
func TestDialect(t *testing.T) {
	const seed, rules = 35, 5000
	rng := rand.New(rand.NewSource(seed))
	parser := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	compared, zones := 0, []string{"UTC", "Europe/Prague", "America/New_York", "Asia/Tokyo"}
	for i := range rules {
		expr := []string{"0 0 */2 * 1", "0 0 1,15 * */2", "0 0 1,* * 1", "0 0 */1 * 1", "0 0 ? * 1", "30 2 * * *", "@daily", "@weekly", "@hourly"}[i%9]
		if i > 100 {
			expr = randomRule(rng)
		}
		zone := zones[rng.Intn(len(zones))]
		rule, err := recur.Spec{Cron: expr, Zone: zone, Dialect: recur.Kubernetes}.Rule(time.Time{})
		theirs, theirErr := parser.Parse("CRON_TZ=" + zone + " " + expr)
		if (err == nil) != (theirErr == nil) {
			t.Errorf("%s: %v here, %v there", expr, err, theirErr)
		}
		if err != nil || theirErr != nil {
			continue
		}
		at := time.Date(2027, time.Month(1+rng.Intn(12)), 1+rng.Intn(28), rng.Intn(24), rng.Intn(60), 0, 0, time.UTC)
		if i%2 == 0 {
			at = []time.Time{
				time.Date(2027, 3, 27, 22, 0, 0, 0, time.UTC), time.Date(2027, 10, 30, 22, 0, 0, 0, time.UTC),
				time.Date(2027, 3, 14, 5, 0, 0, 0, time.UTC), time.Date(2027, 11, 7, 4, 0, 0, 0, time.UTC),
			}[rng.Intn(4)]
		}
		for range 8 {
			want, got := theirs.Next(at), rule.Next(at)
			if want.IsZero() || want.Year() > 2031 { // robfig/cron searches five years
				break
			}
			if compared++; !got.Equal(want) {
				t.Fatalf("%s, %s: after %s %s, want %s", expr, zone, at, got, want)
			}
			at = want
		}
	}
	if compared < 4*rules {
		t.Errorf("only %d instants were compared", compared)
	}
}

// randomRule makes a rule, which may not be valid.
func randomRule(rng *rand.Rand) string {
	fields := []string{randomField(rng, 0, 59), randomField(rng, 0, 23), "*", "*", "*"}
	if rng.Intn(3) == 0 {
		fields[1] = fmt.Sprint(1 + rng.Intn(3))
	}
	if rng.Intn(2) == 0 {
		fields[2] = randomField(rng, 1, 31)
	}
	if rng.Intn(4) == 0 {
		fields[3] = randomField(rng, 1, 12)
	}
	if rng.Intn(2) == 0 {
		fields[4] = randomField(rng, 0, 7) // 7 is not valid
	}
	if rng.Intn(4) == 0 {
		fields = append([]string{randomField(rng, 0, 59)}, fields...)
	}
	return strings.Join(fields, " ")
}

func randomField(rng *rand.Rand, low, high int) string {
	items := make([]string, 1+rng.Intn(2))
	for i := range items {
		a, b := low+rng.Intn(high-low+1), low+rng.Intn(high-low+1)
		items[i] = []string{
			"*", fmt.Sprintf("*/%d", 1+rng.Intn(high)), fmt.Sprintf("%d-%d", min(a, b), max(a, b)), fmt.Sprintf("%d-%d/%d", a, b, 1+rng.Intn(5)),
			fmt.Sprintf("%d/%d", a, 1+rng.Intn(9)), fmt.Sprint(a), fmt.Sprint(b),
		}[rng.Intn(7)]
	}
	return strings.Join(items, ",")
}
