// Package crontab reads crontabs as cron does: five fields or a macro and a
// command in each line, comments, and environment lines that are in force for
// the lines below them. There are two forms: a user's, and the system's
// (/etc/crontab, /etc/cron.d), where the user to run as stands before the
// command.
//
// Lines run as under cron: one attempt, never again after a loss, however many
// at a time (overlap allow), without a time limit (timeout hourbell.MaxDuration)
// and in the environment that cron gives (kinds.BaseCron) with the file's own
// settings. SHELL chooses the shell, HOME the working directory, CRON_TZ the
// zone (else it is Reader.Zone); TZ is a variable like any other. A % ends the
// command and begins its input. @reboot is once for each start of a node.
//
// Comments say what cron has no words for. They take the keys of a schedule
// file, key=value with quotes as in a shell:
//
//	#hourbell-file: owner=backups on_failure="mail -s failed ops"
//
//	#hourbell: overlap=skip timeout=2h name=nightly
//	30 2 * * * backup --full
//
// The first holds for the whole file and stands before its first line, the
// second for the line right below it.
//
// What cannot be honoured is a mistake, or a warning where the lines still do
// what they say (MAILTO: nothing is mailed); nothing is dropped in silence.
//
// Each line gets a name that its place in the file does not change: the file
// (or the owner that it names), the program, and a hash of rule, zone, command,
// input and, in the system form, user. Equal lines are numbered. Neither names
// nor messages show arguments or values, which may be secret.
package crontab
