package crontab

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LocalZone returns the name of this machine's time zone, in which cron reads
// lines without a CRON_TZ: the variable TZ, else the target of /etc/localtime,
// else /etc/timezone, else UTC.
func LocalZone() string {
	if zone, set := os.LookupEnv("TZ"); set {
		return known(strings.TrimPrefix(zone, ":"))
	}
	if path, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, zone, found := strings.Cut(filepath.ToSlash(path), "/zoneinfo/"); found {
			return known(zone)
		}
	}
	text, err := os.ReadFile("/etc/timezone")
	if err != nil {
		return "UTC"
	}
	return known(strings.TrimSpace(string(text)))
}

// known returns zone if schedules accept it, else "".
func known(zone string) string {
	if zone == "" || zone == "Local" {
		return "UTC"
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return "UTC"
	}
	return zone
}
