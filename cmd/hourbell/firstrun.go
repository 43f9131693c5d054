package main

import (
	"fmt"

	"github.com/hourbell/hourbell"
)

// firstRun is what the program prints without a command.
const firstRun = `hourbell %s: scheduled and queued work, once, on any number of servers. Three things to try:

  hourbell init && hourbell serve --file schedules.yaml
      writes a first file of schedules, and runs it on a file as the store, without a server

  hourbell check --crontab-system /etc/crontab
      what each line of a crontab would run, as whom, and when; changes nothing

  hourbell demo
      sample work on a temporary store, with its pages at http://127.0.0.1:8080

` + "`hourbell --help` lists all commands; `hourbell doctor` examines a store.\n"

// showFirstRun prints firstRun, and fails as every use without a command does, because a script whose
// command is empty by mistake has to notice it.
func (p *program) showFirstRun() error {
	if _, err := fmt.Fprintf(p.stderr, firstRun, hourbell.Build()); err != nil {
		return err
	}
	return errMisused
}
