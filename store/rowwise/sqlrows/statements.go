package sqlrows

import (
	"embed"
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/store/sqltext"
)

// Statement is one of the SQL statements that a driver sends. Numbers below Shared are the statements of this package, for which
// each driver has a file; a driver numbers its own statements from Shared on.
type Statement uint16

// Source is where the text of a statement comes from, and what it returns. Names are separated by spaces.
type Source struct {
	File    string // in the folder sql, without ".sql"
	Given   string // the conditions whose lines belong to the statement
	Columns string // the columns, in the order in which callers scan them
	Lists   bool   // the statement is a listing: each call gives further conditions
}

// String returns the name of the statement's file, and its conditions.
func (s Source) String() string { return strings.TrimSpace(s.File + " " + s.Given) }

// Text is the text of a statement, the names of the parameters that it has, and of its columns.
type Text struct {
	SQL     string // of a listing: with all lines that its calls may give
	Params  []string
	Columns []string
}

// Sources are the sources of the statements of a driver, by their numbers.
type Sources []Source

// WithShared adds the sources of the statements below Shared to the sources of a driver's own statements, whose places are their
// numbers.
func WithShared(own []Source) Sources {
	copy(own, shared[:])
	return own
}

// Read reads the text of each statement from the folder sql of files, and completes it; see package sqltext for what the files
// may have besides SQL. expand is called before the rules; it may be nil. What comes after a statement is cut: SQLite keeps only
// statements prepared that end with the text.
func (all Sources) Read(files embed.FS, rules sqltext.Rules, expand func(sql string) string) ([]Text, error) {
	texts := make([]Text, len(all))
	for i, from := range all {
		file, err := files.ReadFile("sql/" + from.File + ".sql")
		if err != nil {
			return nil, fmt.Errorf("read statements: %w", err)
		}
		sql := strings.TrimSpace(string(file))
		if expand != nil {
			sql = expand(sql)
		}
		if sql, err = rules.Complete(sql, all.conditions(from, sql)...); err != nil {
			return nil, fmt.Errorf("read statement %v: %w", from, err)
		}
		texts[i] = Text{sql, sqltext.Parameters(sql), rules.Names(from.Columns)}
	}
	return texts, nil
}

// conditions returns the conditions whose lines belong to a statement. A listing also has the lines of the conditions that its
// calls give.
func (all Sources) conditions(of Source, file string) []string {
	given := strings.Fields(of.Given)
	if !of.Lists {
		return given
	}
	other := map[string]bool{} // given by other statements of the file
	for _, from := range all {
		for _, condition := range strings.Fields(from.Given) {
			other[condition] = other[condition] || from.File == of.File
		}
	}
	for _, condition := range sqltext.Conditions(file) {
		if !other[condition] {
			given = append(given, condition)
		}
	}
	return given
}

// The statements of this package.
const (
	AddPermits Statement = iota
	AdvanceSchedules
	AwaitChainEnds
	CapRate
	CloseChainEnds
	CountFailing
	CountLosses
	CountRunningJobs
	DeleteCalendarUses
	DeleteCalendars
	DeleteChain
	DeleteCopy
	DeleteFinishedJobs
	DeleteHandlers
	DeleteHostCopies
	DeleteHostNodes
	DeletePermits
	DeleteReleases
	EndFailing
	FindBatch
	FindChain
	FindDecidedEdges
	FindDueEnds
	FindDueLanes
	FindEdges
	FindFiredSlots
	FindFollowedEnds
	FindKept
	FindLaneWork
	FindLanes
	FindMarks
	FindNewestSlots
	FindNextDue
	FindOccupiedLanes
	FindOpenEdges
	FindPauseWork
	FindPauses
	FindPermits
	FindReopenings
	FindScheduleJobs
	FindScheduleRelease
	FindSuspect
	FindWaitingJobs
	InsertCalendarUses
	InsertChain
	InsertRetries
	ListAttempts
	ListBatches
	ListCalendars
	ListCancelledClaims
	ListClaims
	ListEdges
	ListGroups
	ListHandlers
	ListJobs
	ListJobsOldestFirst
	ListKinds
	ListLinks
	ListNodes
	ListOutput
	ListOwners
	ListPausedClaims
	ListPauses
	ListProgress
	ListQueues
	ListSchedules
	ListSlots
	LockCalendarUsers
	LockGroupSchedules
	LockHostNodes
	LockIdleLanes
	LockOwnedSchedules
	LockSchedules
	MarkReleases
	MatchJobs
	RaiseCounter
	ReadClock
	ReadOldestNode
	ReadPosition
	ReadPrinted
	ReleaseJobs
	ReopenJobs
	ReportLoss
	ResetFailures
	ReviseSchedules
	ReviveJobs
	TakeKeys
	UpdateBatch
	UpdateLanes
	UpdateNext
	UpdateRelease
	UpdateWaits
	UpsertCopy
	UpsertHandlers
	UpsertOwner
	UpsertPauses
	UpsertProgress

	// Shared is the number of these statements.
	Shared
)

// shared has the sources of these statements.
var shared = [Shared]Source{
	AddPermits:          {File: "add_permits"},
	AdvanceSchedules:    {File: "advance_schedules"},
	AwaitChainEnds:      {File: "await_chain_ends"},
	CapRate:             {File: "cap_rate"},
	CloseChainEnds:      {File: "close_chain_ends"},
	CountFailing:        {File: "count_failing"},
	CountLosses:         {File: "count_losses"},
	CountRunningJobs:    {File: "count_running_jobs", Columns: "node jobs"},
	DeleteCalendarUses:  {File: "delete_calendar_uses"},
	DeleteCalendars:     {File: "delete_calendars"},
	DeleteChain:         {File: "delete_chain"},
	DeleteCopy:          {File: "delete_copy"},
	DeleteFinishedJobs:  {File: "delete_finished_jobs"},
	DeleteHandlers:      {File: "delete_handlers"},
	DeleteHostCopies:    {File: "delete_host_copies"},
	DeleteHostNodes:     {File: "delete_host_nodes"},
	DeletePermits:       {File: "delete_permits"},
	DeleteReleases:      {File: "delete_releases"},
	EndFailing:          {File: "end_failing"},
	FindBatch:           {File: "find_batch", Columns: "finally_id finally_on finally_any"},
	FindChain:           {File: "find_chain", Columns: "schedule predecessor"},
	FindDecidedEdges:    {File: "find_decided_edges", Columns: "id matched missed state reason"},
	FindDueEnds:         {File: "find_due_ends", Columns: "schedule_id slot predecessor job_id state ended_at reason paused"},
	FindDueLanes:        {File: "find_due_lanes", Columns: "id"},
	FindEdges:           {File: "find_edges", Columns: "on_id job_id delay on any_of at_end"},
	FindFiredSlots:      {File: "find_fired_slots", Columns: "place"},
	FindFollowedEnds:    {File: "find_followed_ends", Columns: "place"},
	FindKept:            {File: "find_kept", Columns: "id until unlinked"},
	FindLaneWork:        {File: "find_lane_work", Columns: "limited rated found next_look"},
	FindLanes:           {File: "find_lanes", Columns: "id"},
	FindMarks:           {File: "find_marks", Columns: "mark"},
	FindNewestSlots:     {File: "find_newest_slots", Columns: "schedule_id id slot last outcome reason"},
	FindNextDue:         {File: "find_next_due", Columns: "next_due"},
	FindOccupiedLanes:   {File: "find_occupied_lanes", Columns: "id"},
	FindOpenEdges:       {File: "find_edges", Given: "open", Columns: "on_id job_id delay on any_of at_end"},
	FindPauseWork:       {File: "find_pause_work", Columns: "found"},
	FindPauses:          {File: "find_pauses", Columns: "subject name"},
	FindPermits:         {File: "find_permits", Columns: "limit_id node permits wants"},
	FindReopenings:      {File: "find_reopenings", Columns: "job_id open_edges any_of at_end matched missed latest"},
	FindScheduleJobs:    {File: "find_schedule_jobs", Columns: TargetColumns},
	FindScheduleRelease: {File: "find_schedule_release", Columns: "found"},
	FindSuspect:         {File: "find_suspect", Columns: "found"},
	FindWaitingJobs:     {File: "find_waiting_jobs", Columns: "id kind group_name origin"},
	InsertCalendarUses:  {File: "insert_calendar_uses"},
	InsertChain:         {File: "insert_chain"},
	InsertRetries:       {File: "insert_retries"},
	ListAttempts:        {File: "list_attempts", Columns: "job_id attempt token node started_at finished_at outcome error trace output printed"},
	ListBatches:         {File: "list_batches", Columns: "id created_at finally_id finally_state state jobs", Lists: true},
	ListCalendars:       {File: "list_calendars", Columns: CalendarColumns, Lists: true},
	ListCancelledClaims: {File: "list_cancelled_claims", Columns: "id token"},
	ListClaims:          {File: "list_claims", Columns: "id token"},
	ListEdges:           {File: "list_edges", Columns: "job_id on_id delay on state"},
	ListGroups:          {File: "list_groups", Columns: groupColumns, Lists: true},
	ListHandlers:        {File: "list_handlers", Columns: "name events kind group_name job updated_at"},
	ListJobs:            {File: "list_jobs", Given: "page newest", Columns: jobColumns, Lists: true},
	ListJobsOldestFirst: {File: "list_jobs", Given: "page oldest", Columns: jobColumns, Lists: true},
	ListKinds:           {File: "list_kinds", Columns: "kind ready scheduled running waiting oldest"},
	ListLinks:           {File: "list_links", Columns: "job_id on_id delay on state"},
	ListNodes:           {File: "list_nodes", Columns: NodeColumns},
	ListOutput:          {File: "list_output", Columns: "job_id block data"},
	ListOwners:          {File: "list_owners", Columns: "name revision digest host synced_at copy_host copy_path copy_digest copy_revision changed_at", Lists: true},
	ListPausedClaims:    {File: "list_paused_claims", Columns: "id token"},
	ListPauses:          {File: "list_pauses", Columns: PauseColumns},
	ListProgress:        {File: "list_progress", Columns: "job_id token done total note at stuck"},
	ListQueues:          {File: "list_queues", Columns: "queue ready scheduled running waiting oldest"},
	ListSchedules:       {File: "list_schedules", Columns: ScheduleColumns + " since", Lists: true},
	ListSlots:           {File: "list_slots", Columns: "id schedule_id schedule_name owner slot last count outcome reason job_id recorded_at after_id after_schedule", Lists: true},
	LockCalendarUsers:   {File: "lock_calendar_users", Columns: "calendar name next_at"},
	LockGroupSchedules:  {File: "lock_group_schedules", Columns: ScheduleColumns},
	LockHostNodes:       {File: "lock_host_nodes", Columns: "living ended copies"},
	LockIdleLanes:       {File: "lock_idle_lanes", Columns: "id"},
	LockOwnedSchedules:  {File: "lock_owned_schedules", Columns: ScheduleColumns},
	LockSchedules:       {File: "lock_schedules", Columns: ScheduleColumns},
	MarkReleases:        {File: "mark_releases"},
	MatchJobs:           {File: "list_jobs", Given: "numbers", Columns: "id", Lists: true},
	RaiseCounter:        {File: "raise_counter"},
	ReadClock:           {File: "read_clock", Columns: "now"},
	ReadOldestNode:      {File: "read_oldest_node", Columns: "node"},
	ReadPosition:        {File: "read_position", Columns: "store token node accepted lost_at"},
	ReadPrinted:         {File: "read_printed", Columns: "attempt printed output"},
	ReleaseJobs:         {File: "release_jobs"},
	ReopenJobs:          {File: "reopen_jobs"},
	ReportLoss:          {File: "report_loss"},
	ResetFailures:       {File: "reset_failures"},
	ReviseSchedules:     {File: "revise_schedules"},
	ReviveJobs:          {File: "revive_jobs"},
	TakeKeys:            {File: "take_keys"},
	UpdateBatch:         {File: "update_batch"},
	UpdateLanes:         {File: "update_lanes"},
	UpdateNext:          {File: "update_next"},
	UpdateRelease:       {File: "update_release"},
	UpdateWaits:         {File: "update_waits"},
	UpsertCopy:          {File: "upsert_copy"},
	UpsertHandlers:      {File: "upsert_handlers"},
	UpsertOwner:         {File: "upsert_owner"},
	UpsertPauses:        {File: "upsert_pauses"},
	UpsertProgress:      {File: "upsert_progress"},
}
