package uptime_test

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

func TestUptimeGoesOn(t *testing.T) {
	before := uptime.Now()
	time.Sleep(20 * time.Millisecond)
	if passed := uptime.Now().Sub(before); passed < 20*time.Millisecond || passed > 10*time.Second {
		t.Errorf("uptime moved by %v in 20 ms", passed)
	}
}
