package crontab

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// LocalZone is the name of this machine's time zone, by which cron reads lines
// without a CRON_TZ: the variable TZ, else where /etc/localtime leads, else
// /etc/timezone, else UTC.
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

// known returns zone if it is one that schedules can have.
func known(zone string) string {
	if zone == "" || zone == "Local" {
		return "UTC"
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return "UTC"
	}
	return zone
}

// InZone returns a reader of crontabs whose lines without a CRON_TZ are in zone.
// Names of lines do not depend on it.
func InZone(zone string) func(name string, text []byte) (*declared.File, error) {
	return func(name string, text []byte) (*declared.File, error) {
		file, err := Read(name, text)
		if err != nil {
			return nil, err
		}
		for i := range file.Entries {
			if rule := &file.Entries[i].Schedule.Rule; rule.Zone == "" {
				rule.Zone = zone
			}
		}
		return file, nil
	}
}
