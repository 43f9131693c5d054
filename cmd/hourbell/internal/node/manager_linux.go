package node

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// monotonic returns the assignment with the time at which files begin to be read again, which
// Type=notify-reload asks for.
func monotonic() []string {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return nil
	}
	return []string{fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/1000)}
}
