package postgres

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

//go:embed migrations/*.sql
var migrationFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
//
// They look rows of job and history up by id = ANY (ARRAY[…]), and sort by id + 0,
// where id = … and id would do: after a vacuum of an emptied table the planner takes
// it for empty, and would rather walk its whole index for the order that it has.
type statement uint8

const (
	acceptLoss statement = iota
	advanceSchedules
	beginFailing
	beginJobs
	checkRecorded
	claimExactJobs
	claimExactSuspects
	claimJobs
	claimSuspects
	countFailing
	countLosses
	cutHistoryBatch
	deleteCalendarUses
	deleteCalendars
	deleteCancels
	deleteClaimBatches
	deleteHistoryBatches
	deleteJobs
	deleteNodeClaims
	endFailing
	endJobs
	expireNodes
	extendLease
	extendSlots
	findBehindCursors
	findBusySchedules
	findCalendarUser
	findDueSchedules
	findDueSchedulesNamed
	findExactBehindCursors
	findFiredSlots
	findKeyHolders
	findNewestSlots
	findNextDue
	findNextExpiry
	findNextSchedule
	findScheduleJobs
	findUniqueJob
	finishJobs
	holdCalendars
	holdNode
	insertAttempts
	insertCalendarUses
	insertCalendars
	insertHistoryBatches
	insertJob
	insertJobs
	insertNode
	insertSameJobs
	insertSchedules
	insertSlotJobs
	insertSlots
	insertUniqueJob
	leaveNode
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
	lockFailing
	lockFinishedJobs
	lockHeldJobs
	lockHistoryBatches
	lockJobs
	lockLiveJobs
	lockRetriedSchedules
	lockSchedules
	lockSerialGroupJobs
	lockSerialGroups
	lockTriggeredSchedules
	lockWaitingJobs
	pruneJobs
	pruneNodes
	pruneNotedJobs
	pruneSlots
	pullJobs
	raiseLocks
	raiseSequences
	readCancels
	readClock
	readPosition
	releaseJobs
	renewFailing
	reportLoss
	requestCancels
	requeueJobs
	resetFailures
	reviseSchedules
	reviveJobs
	syncOwner
	uncountFiredSlots
	updateCalendars
	updateSchedules
	statementCount
)

// source is where the text of a statement comes from: its file in sql/, without ".sql",
// and the conditions, separated by spaces, whose lines belong to the statement.
type source struct{ file, given string }

// sources has the source of each statement.
var sources = [statementCount]source{
	acceptLoss:             {file: "accept_loss"},
	advanceSchedules:       {file: "advance_schedules"},
	beginFailing:           {file: "begin_failing"},
	beginJobs:              {file: "begin_jobs"},
	checkRecorded:          {file: "check_recorded"},
	claimExactJobs:         {file: "claim_jobs", given: "exact plain"},
	claimExactSuspects:     {file: "claim_jobs", given: "exact suspects"},
	claimJobs:              {file: "claim_jobs", given: "plain"},
	claimSuspects:          {file: "claim_jobs", given: "suspects"},
	countFailing:           {file: "count_failing"},
	countLosses:            {file: "count_losses"},
	cutHistoryBatch:        {file: "cut_history_batch"},
	deleteCalendarUses:     {file: "delete_calendar_uses"},
	deleteCalendars:        {file: "delete_calendars"},
	deleteCancels:          {file: "delete_cancels"},
	deleteClaimBatches:     {file: "delete_claim_batches"},
	deleteHistoryBatches:   {file: "delete_history_batches"},
	deleteJobs:             {file: "delete_jobs"},
	deleteNodeClaims:       {file: "delete_node_claims"},
	endFailing:             {file: "end_failing"},
	endJobs:                {file: "end_jobs"},
	expireNodes:            {file: "expire_nodes"},
	extendLease:            {file: "extend_lease"},
	extendSlots:            {file: "extend_slots"},
	findBehindCursors:      {file: "find_behind_cursors"},
	findBusySchedules:      {file: "find_busy_schedules"},
	findCalendarUser:       {file: "find_calendar_user"},
	findDueSchedules:       {file: "find_due_schedules"},
	findDueSchedulesNamed:  {file: "find_due_schedules_named"},
	findExactBehindCursors: {file: "find_behind_cursors", given: "exact"},
	findFiredSlots:         {file: "find_fired_slots"},
	findKeyHolders:         {file: "find_key_holders"},
	findNewestSlots:        {file: "find_newest_slots"},
	findNextDue:            {file: "find_next_due"},
	findNextExpiry:         {file: "find_next_expiry"},
	findNextSchedule:       {file: "find_next_schedule"},
	findScheduleJobs:       {file: "find_schedule_jobs"},
	findUniqueJob:          {file: "find_unique_job"},
	finishJobs:             {file: "finish_jobs"},
	holdCalendars:          {file: "hold_calendars"},
	holdNode:               {file: "hold_node"},
	insertAttempts:         {file: "insert_attempts"},
	insertCalendarUses:     {file: "insert_calendar_uses"},
	insertCalendars:        {file: "insert_calendars"},
	insertHistoryBatches:   {file: "insert_history_batches"},
	insertJob:              {file: "insert_job"},
	insertJobs:             {file: "insert_jobs"},
	insertNode:             {file: "insert_node"},
	insertSameJobs:         {file: "insert_same_jobs"},
	insertSchedules:        {file: "insert_schedules"},
	insertSlotJobs:         {file: "insert_slot_jobs"},
	insertSlots:            {file: "insert_slots"},
	insertUniqueJob:        {file: "insert_job", given: "unique"},
	leaveNode:              {file: "leave_node"},
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
	lockFailing:            {file: "lock_failing"},
	lockFinishedJobs:       {file: "lock_finished_jobs"},
	lockHeldJobs:           {file: "lock_held_jobs"},
	lockHistoryBatches:     {file: "lock_history_batches"},
	lockJobs:               {file: "lock_jobs"},
	lockLiveJobs:           {file: "lock_live_jobs"},
	lockRetriedSchedules:   {file: "lock_retried_schedules"},
	lockSchedules:          {file: "lock_schedules"},
	lockSerialGroupJobs:    {file: "lock_serial_group_jobs"},
	lockSerialGroups:       {file: "lock_serial_groups"},
	lockTriggeredSchedules: {file: "lock_triggered_schedules"},
	lockWaitingJobs:        {file: "lock_waiting_jobs"},
	pruneJobs:              {file: "prune_jobs"},
	pruneNodes:             {file: "prune_nodes"},
	pruneNotedJobs:         {file: "prune_noted_jobs"},
	pruneSlots:             {file: "prune_slots"},
	pullJobs:               {file: "pull_jobs"},
	raiseLocks:             {file: "raise_locks"},
	raiseSequences:         {file: "raise_sequences"},
	readCancels:            {file: "read_cancels"},
	readClock:              {file: "read_clock"},
	readPosition:           {file: "read_position"},
	releaseJobs:            {file: "release_jobs"},
	renewFailing:           {file: "renew_failing"},
	reportLoss:             {file: "report_loss"},
	requestCancels:         {file: "request_cancels"},
	requeueJobs:            {file: "requeue_jobs"},
	resetFailures:          {file: "reset_failures"},
	reviseSchedules:        {file: "revise_schedules"},
	reviveJobs:             {file: "revive_jobs"},
	syncOwner:              {file: "sync_owner"},
	uncountFiredSlots:      {file: "uncount_fired_slots"},
	updateCalendars:        {file: "update_calendars"},
	updateSchedules:        {file: "update_schedules"},
}

// texts holds the text of each statement, with the schema filled in.
type texts [statementCount]string

// readTexts reads the text of each statement.
func readTexts(schema string) (all texts, err error) {
	for s, from := range sources {
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		all[s] = withSchema(pick(string(text), strings.Fields(from.given)...), schema)
	}
	return all, nil
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}

// q returns the text of a statement.
func (b *Backend) q(s statement) string { return b.sql[s] }

// pick returns a text without the conditional lines, which end in "-- if NAME",
// whose name is not among given.
func pick(text string, given ...string) string {
	var lines []string
	for line := range strings.Lines(text) {
		_, condition, found := strings.Cut(strings.TrimSuffix(line, "\n"), "-- if ")
		if !found || slices.Contains(given, condition) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// withSchema fills in {schema}, the quoted name, and {schema_text}, the same
// inside a string literal.
func withSchema(text, schema string) string {
	quoted := pgx.Identifier{schema}.Sanitize()
	return strings.NewReplacer("{schema}", quoted, "{schema_text}", strings.ReplaceAll(quoted, "'", "''")).Replace(text)
}

// readSteps reads the migrations. Each ends by noting that it was applied.
func readSteps(schema string) []store.Migration {
	steps, err := store.ReadMigrations(migrationFiles, "migrations")
	if err != nil {
		panic(err)
	}
	for i := range steps {
		note := fmt.Sprintf("\nINSERT INTO {schema}.migration (version, name) VALUES (%d, '%s');\n", steps[i].Version, steps[i].Name)
		steps[i].SQL = withSchema(steps[i].SQL+note, schema)
	}
	return steps
}
