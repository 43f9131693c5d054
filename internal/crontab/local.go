package crontab

import (
	"fmt"
	"regexp"

	"github.com/hourbell/hourbell"
)

// housekeeping matches the commands of packages that look after the machine on which they are installed.
var housekeeping = regexp.MustCompile(`\b(run-parts|anacron|logrotate|e2scrub(_all)?|fstrim|checkarray|mdadm|debian-sa1|sa1|sa2|` +
	`sysstat|updatedb|man-db|dpkg|apt-get|popularity-contest|smartctl|tmpreaper|update-rc\.d)\b|` +
	`/etc/cron\.(hourly|daily|weekly|monthly)\b`)

// warnLocal warns about a line that any node of the cluster may run, but that looks as if each machine needed it.
func (s *scan) warnLocal(sched hourbell.Schedule, command string) {
	if !sched.On.IsZero() || s.Host != "" {
		return
	}
	if word := housekeeping.FindString(command); word != "" {
		s.warn("command", fmt.Sprintf("looks like the housekeeping of one machine (%s): a single node of the cluster runs the line", word),
			"give files of the machine's own packages with --crontab-local, or say above the line where it runs: #hourbell: on=every, or on=host=NAME")
	}
}
