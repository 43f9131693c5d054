package sqlite

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement uint8

const (
	acceptLoss statement = iota
	advanceSchedules
	beginFailing
	beginJobs
	checkRecorded
	claimDigestedStreams
	claimJobs
	claimStreams
	claimSuspects
	countFailing
	countLosses
	deleteAttempts
	deleteCalendarUses
	deleteCalendars
	deleteCancels
	deleteEndedJobs
	deleteFinishedJobs
	deleteJobs
	endFailing
	endJobs
	endNodes
	extendLease
	extendSlots
	findDueSchedules
	findDueSchedulesNamed
	findDueStreams
	findExpiredNodes
	findFiredSlots
	findKeyHolders
	findLivingNode
	findNewestSlots
	findNextDue
	findNextExpiry
	findNextSchedule
	findScheduleJobs
	findSuspect
	findUndigested
	findUniqueJob
	holdNode
	insertAttempts
	insertCalendarUses
	insertJob
	insertJobs
	insertNode
	insertNodeSequence
	insertSameJobs
	insertSlots
	insertUniqueJob
	listAttempts
	listCalendars
	listCancelledClaims
	listClaims
	listJobs
	listNodes
	listQueues
	listSchedules
	listSlots
	lockCalendarUsers
	lockCalendars
	lockClaims
	lockDueSchedules
	lockFailing
	lockFile
	lockHeldJobs
	lockJobs
	lockLiveJobs
	lockOwnedSchedules
	lockSchedules
	lockTriggeredSchedules
	lockWaitingJobs
	pruneCompletedJobs
	pruneFailedJobs
	pruneNodes
	pruneSlots
	raiseCounter
	raiseLocks
	raiseNodes
	raiseTokens
	readClock
	readCounter
	readOwner
	readPosition
	releaseJobs
	reportLoss
	requestCancels
	requeueJobs
	resetFailures
	reviseSchedules
	reviveJobs
	syncOwner
	updateDigests
	upsertCalendars
	upsertSchedules
	statementCount
)

// source is where the text of a statement comes from: its file in sql/, without ".sql",
// and the conditions, separated by spaces, whose lines belong to the statement.
type source struct{ file, given string }

// sources has the source of each statement.
// The lines of listings are picked by each call; see session.list.
var sources = [statementCount]source{
	acceptLoss:             {file: "accept_loss"},
	advanceSchedules:       {file: "advance_schedules"},
	beginFailing:           {file: "begin_failing"},
	beginJobs:              {file: "begin_jobs"},
	checkRecorded:          {file: "check_recorded"},
	claimDigestedStreams:   {file: "claim_jobs", given: "digested several"},
	claimJobs:              {file: "claim_jobs", given: "one"},
	claimStreams:           {file: "claim_jobs", given: "several"},
	claimSuspects:          {file: "claim_suspects"},
	countFailing:           {file: "count_failing"},
	countLosses:            {file: "count_losses"},
	deleteAttempts:         {file: "delete_attempts"},
	deleteCalendarUses:     {file: "delete_calendar_uses"},
	deleteCalendars:        {file: "delete_calendars"},
	deleteCancels:          {file: "delete_cancels"},
	deleteEndedJobs:        {file: "delete_ended_jobs"},
	deleteFinishedJobs:     {file: "delete_finished_jobs"},
	deleteJobs:             {file: "delete_jobs"},
	endFailing:             {file: "end_failing"},
	endJobs:                {file: "end_jobs"},
	endNodes:               {file: "end_nodes"},
	extendLease:            {file: "extend_lease"},
	extendSlots:            {file: "extend_slots"},
	findDueSchedules:       {file: "find_due_schedules"},
	findDueSchedulesNamed:  {file: "find_due_schedules_named"},
	findDueStreams:         {file: "find_due_streams"},
	findExpiredNodes:       {file: "find_expired_nodes"},
	findFiredSlots:         {file: "find_fired_slots"},
	findKeyHolders:         {file: "find_key_holders"},
	findLivingNode:         {file: "find_living_node"},
	findNewestSlots:        {file: "find_newest_slots"},
	findNextDue:            {file: "find_next_due"},
	findNextExpiry:         {file: "find_next_expiry"},
	findNextSchedule:       {file: "find_next_schedule"},
	findScheduleJobs:       {file: "find_schedule_jobs"},
	findSuspect:            {file: "find_suspect"},
	findUndigested:         {file: "find_undigested"},
	findUniqueJob:          {file: "find_unique_job"},
	holdNode:               {file: "hold_node"},
	insertAttempts:         {file: "insert_attempts"},
	insertCalendarUses:     {file: "insert_calendar_uses"},
	insertJob:              {file: "insert_job"},
	insertJobs:             {file: "insert_jobs"},
	insertNode:             {file: "insert_node"},
	insertNodeSequence:     {file: "insert_node_sequence"},
	insertSameJobs:         {file: "insert_same_jobs"},
	insertSlots:            {file: "insert_slots"},
	insertUniqueJob:        {file: "insert_job", given: "unique"},
	listAttempts:           {file: "list_attempts"},
	listCalendars:          {file: "list_calendars"},
	listCancelledClaims:    {file: "list_cancelled_claims"},
	listClaims:             {file: "list_claims"},
	listJobs:               {file: "list_jobs"},
	listNodes:              {file: "list_nodes"},
	listQueues:             {file: "list_queues"},
	listSchedules:          {file: "list_schedules"},
	listSlots:              {file: "list_slots"},
	lockCalendarUsers:      {file: "lock_calendar_users"},
	lockCalendars:          {file: "lock_calendars"},
	lockClaims:             {file: "lock_claims"},
	lockDueSchedules:       {file: "lock_due_schedules"},
	lockFailing:            {file: "lock_failing"},
	lockFile:               {file: "lock_file"},
	lockHeldJobs:           {file: "lock_held_jobs"},
	lockJobs:               {file: "lock_jobs"},
	lockLiveJobs:           {file: "lock_live_jobs"},
	lockOwnedSchedules:     {file: "lock_owned_schedules"},
	lockSchedules:          {file: "lock_schedules"},
	lockTriggeredSchedules: {file: "lock_triggered_schedules"},
	lockWaitingJobs:        {file: "lock_waiting_jobs"},
	pruneCompletedJobs:     {file: "prune_jobs", given: "completed"},
	pruneFailedJobs:        {file: "prune_jobs", given: "failed"},
	pruneNodes:             {file: "prune_nodes"},
	pruneSlots:             {file: "prune_slots"},
	raiseCounter:           {file: "raise_counter"},
	raiseLocks:             {file: "raise_locks"},
	raiseNodes:             {file: "raise_nodes"},
	raiseTokens:            {file: "raise_tokens"},
	readClock:              {file: "read_clock"},
	readCounter:            {file: "read_counter"},
	readOwner:              {file: "read_owner"},
	readPosition:           {file: "read_position"},
	releaseJobs:            {file: "release_jobs"},
	reportLoss:             {file: "report_loss"},
	requestCancels:         {file: "request_cancels"},
	requeueJobs:            {file: "requeue_jobs"},
	resetFailures:          {file: "reset_failures"},
	reviseSchedules:        {file: "revise_schedules"},
	reviveJobs:             {file: "revive_jobs"},
	syncOwner:              {file: "sync_owner"},
	updateDigests:          {file: "update_digests"},
	upsertCalendars:        {file: "upsert_calendars"},
	upsertSchedules:        {file: "upsert_schedules"},
}

// texts holds the text of each statement, and of each listing with all its
// conditional lines.
type texts [statementCount]string

// readTexts reads the text of each statement. What comes after a statement is cut:
// the driver keeps only those prepared that end with the text.
func readTexts() (all texts, err error) {
	for s, from := range sources {
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		all[s] = strings.TrimSpace(string(text))
		if !statement(s).lists() {
			all[s] = pick(all[s], strings.Fields(from.given)...)
		}
	}
	return all, nil
}

// lists reports whether a statement is a listing, whose conditions differ by call.
func (s statement) lists() bool {
	return s == listCalendars || s == listJobs || s == listSchedules || s == listSlots
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}

// pick returns a text without the conditional lines, which end in "-- if NAME",
// whose name is not among given.
func pick(text string, given ...string) string {
	var lines []string
	for line := range strings.Lines(text) {
		_, name, conditional := strings.Cut(line, "-- if ")
		if !conditional || slices.Contains(given, strings.TrimSpace(name)) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
