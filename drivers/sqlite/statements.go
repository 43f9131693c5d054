package sqlite

import (
	"database/sql"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement uint8

const (
	acceptLoss statement = iota
	advanceSchedules
	awaitChainEnds
	beginFailing
	beginJobs
	checkRecorded
	claimDigestedStreams
	claimJobs
	claimStreams
	claimSuspects
	limitedDigestedStreams
	limitedJobs
	limitedStreams
	limitedSuspects
	closeChainEnds
	countFailing
	countJobs
	countLosses
	cutOutput
	deleteAttempts
	deleteCalendarUses
	deleteCalendars
	deleteCancels
	deleteChain
	deleteCopy
	deleteHostCopies
	deleteHostNodes
	lockHostNodes
	pruneCopies
	deleteEdges
	deleteEndedJobs
	deleteFinishedJobs
	deleteJobs
	deleteKeyHolds
	deleteOutput
	deleteProgress
	deleteReleases
	endFailing
	endJobs
	endJobsWithResults
	endNodes
	extendLease
	extendSlots
	findBatch
	findChain
	findClaim
	findDecidedEdges
	findDueEnds
	findDueSchedules
	findDueSchedulesNamed
	findDueStreams
	findFiredSlots
	findFollowedEnds
	findKeyHolders
	findKeyHolds
	findMarks
	findNewestSlots
	findNextDue
	findNextExpiry
	findNextSchedule
	findEdges
	findNotStarted
	findOpenEdges
	findReopenings
	findPredecessors
	findRelease
	findScheduleJobs
	findScheduleRelease
	findSuspect
	findUndigested
	findUniqueJobs
	findWaiting
	holdNode
	insertAttempts
	insertBatch
	insertCalendarUses
	insertChain
	insertChainEnds
	insertDeletedReleases
	insertEdges
	insertEvents
	insertJob
	insertJobs
	insertLinkedJobs
	insertNode
	insertNodeSequence
	insertReleases
	insertRetries
	insertSameJobs
	insertLinkReleases
	insertScheduleReleases
	insertSlots
	listAttempts
	listBatches
	listCalendars
	listCancelledClaims
	listClaims
	listPausedClaims
	listEdges
	listEvents
	listGroups
	listJobs
	listJobsOldestFirst
	listLinks
	listNewestEvents
	listNodes
	listOutput
	listOwners
	listProgress
	listQueues
	listKinds
	listReleases
	listSchedules
	listSlots
	lockBatchJob
	lockCalendarUsers
	lockCalendars
	lockClaims
	lockDueSchedules
	lockFailing
	lockFile
	lockFollowers
	lockHeldJobs
	lockJobs
	lockLiveJobs
	lockLiveNodes
	lockOwnedSchedules
	lockSchedules
	lockTriggeredSchedules
	lockWaitingJobs
	markPredecessors
	markReleases
	markScheduleJobs
	matchJobs
	pruneAttempts
	pruneBatches
	pruneChainEnds
	pruneCompletedJobs
	pruneEvents
	pruneFailedJobs
	pruneKeptJobs
	pruneKeyHolds
	pruneNodes
	pruneSlots
	raiseCounter
	raiseEvents
	raiseLocks
	raiseNodes
	raiseTokens
	readClock
	readCounter
	readFeed
	readPosition
	readPrinted
	releaseJobs
	replaceJobs
	reportLoss
	requestCancels
	requeueJobs
	resetFailures
	reopenEdges
	reopenJobs
	reviseSchedules
	reviveJobs
	updateBatch
	updateDigests
	updateEdges
	updateNode
	updateFeed
	updateGoneEvents
	updateJobs
	updateNext
	updateRelease
	updateWaits
	upsertCalendars
	upsertCopy
	upsertKeyHolds
	upsertOutput
	upsertOwner
	upsertProgress
	upsertSchedules
	deleteHandlers
	deletePauses
	findWaitingJobs
	listHandlers
	upsertHandlers
	findPauseWork
	findPauses
	listPauses
	lockGroupSchedules
	lockPauses
	parkJobs
	unparkJobs
	upsertPauses
	endLimits
	addPermits
	capRate
	findStarts
	useStarts
	admitJobs
	clearPermits
	deleteEndedLimits
	deleteLanes
	findDueLanes
	findLaneKeys
	findLaneWork
	findWrongLanes
	findIdlePermits
	deleteGonePermits
	readOldestNode
	findLanes
	findOccupiedLanes
	findPausedPermits
	insertJobVacancies
	insertLanes
	insertLimitVacancies
	insertVacancies
	lockLaneJobs
	lockLanes
	lockLaneHolders
	lockNewLaneJobs
	lockNewLaneSuspects
	findOvertakingJobs
	lockPermittedJobs
	lockRunningLaneJobs
	takeVacancies
	updateLanes
	findLimitWaits
	listLanes
	listLimits
	readLimits
	findQueueRates
	upsertRateLane
	findPermits
	upsertPermits
	deletePermits
	deleteNodePermits
	countRunningJobs
	upsertLimits
	deleteAuditSubjects
	insertAudit
	insertAuditSubjects
	listAudit
	pruneAudit
	updateAudit
	statementCount
)

// source is where the text of a statement comes from, and what its callers agree on
// with it. Names are separated by spaces.
type source struct {
	file    string // in sql/, without ".sql"
	given   string // the conditions whose lines belong to the statement
	params  string // the parameters that callers pass
	columns string // the columns, in the order in which callers scan them
}

// sources has the source of each statement.
// The lines of listings are picked by each call; see session.list.
var sources = [statementCount]source{
	deleteAuditSubjects:    {file: "delete_audit_subjects", params: "ids"},
	insertAudit:            {file: "insert_audit", params: "now actor source action count detail"},
	insertAuditSubjects:    {file: "insert_audit_subjects", params: "id subjects most"},
	listAudit:              {file: "list_audit", params: "actor action kind name since before_at before_id limit", columns: "id at actor source action count detail subjects"},
	pruneAudit:             {file: "prune_audit", params: "before limit", columns: "id"},
	updateAudit:            {file: "update_audit", params: "id count"},
	acceptLoss:             {file: "accept_loss"},
	advanceSchedules:       {file: "advance_schedules", params: "schedules"},
	beginFailing:           {file: "begin_failing", params: "now failing"},
	beginJobs:              {file: "begin_jobs", params: "claims node"},
	checkRecorded:          {file: "check_recorded", params: "claims", columns: "place state"},
	claimDigestedStreams:   {file: "claim_jobs", given: "digested several", params: "streams queue now limit node begin", columns: claimedColumns},
	claimJobs:              {file: "claim_jobs", given: "one", params: "node now begin queue kind limit", columns: claimedColumns},
	claimStreams:           {file: "claim_jobs", given: "several", params: "streams queue now limit node begin", columns: claimedColumns},
	claimSuspects:          {file: "claim_suspects", params: "node now begin queue kinds exact bytes limit", columns: claimedColumns},
	limitedDigestedStreams: {file: "claim_jobs", given: "digested several limited_digested limited_several", params: "streams queue now limit node begin", columns: claimedColumns},
	limitedJobs:            {file: "claim_jobs", given: "one limited_one", params: "node now begin queue kind limit", columns: claimedColumns},
	limitedStreams:         {file: "claim_jobs", given: "several limited_several", params: "streams queue now limit node begin", columns: claimedColumns},
	limitedSuspects:        {file: "claim_suspects", given: "limited", params: "node now begin queue kinds exact bytes limit", columns: claimedColumns},
	countFailing:           {file: "count_failing", params: "failing"},
	countJobs:              {file: "list_jobs", given: "numbers count", params: jobFilterParams + jobRangeParams, columns: "count"},
	countLosses:            {file: "count_losses", params: "ids"},
	cutOutput:              {file: "cut_output", params: "windows"},
	deleteAttempts:         {file: "delete_attempts", params: "ids"},
	deleteCalendarUses:     {file: "delete_calendar_uses", params: "names"},
	deleteCalendars:        {file: "delete_calendars", params: "names"},
	deleteCancels:          {file: "delete_cancels", params: "ids"},
	deleteEndedJobs:        {file: "delete_ended_jobs", params: "ends"},
	deleteFinishedJobs:     {file: "delete_finished_jobs", params: "ids"},
	deleteJobs:             {file: "delete_jobs", params: "ids"},
	deleteKeyHolds:         {file: "delete_key_holds", params: "ids"},
	deleteOutput:           {file: "delete_output", params: "ids"},
	deleteProgress:         {file: "delete_progress", params: "ids"},
	endFailing:             {file: "end_failing", params: "ids"},
	endJobs:                {file: "end_jobs", params: "now ends"},
	endJobsWithResults:     {file: "end_jobs", given: "results kept", params: "now ends"},
	endNodes:               {file: "end_nodes", params: "now died nodes"},
	extendLease:            {file: "extend_lease", params: "now node", columns: "beats"},
	extendSlots:            {file: "extend_slots", params: "now slots"},
	deleteHandlers:         {file: "delete_handlers", params: "names"},
	findWaitingJobs:        {file: "find_waiting_jobs", params: "ids", columns: "id kind group_name origin"},
	listHandlers:           {file: "list_handlers", columns: "name events kind group_name job updated_at"},
	addPermits:             {file: "add_permits", params: "jobs"},
	capRate:                {file: "cap_rate", params: "greatest limit_id"},
	findStarts:             {file: "find_starts", params: "ids", columns: "job_id lane"},
	useStarts:              {file: "use_starts", params: "ids"},
	admitJobs:              {file: "admit_jobs", params: "now jobs"},
	clearPermits:           {file: "clear_permits", params: "ids"},
	deleteEndedLimits:      {file: "delete_ended_limits"},
	deleteLanes:            {file: "delete_lanes", params: "ids"},
	findDueLanes:           {file: "find_due_lanes", params: "now limit", columns: "id"},
	findLaneKeys:           {file: "find_lane_keys", params: "lanes", columns: "limit_id key id"},
	findWrongLanes:         {file: "find_wrong_lanes", params: "lanes limit", columns: "id held starts"},
	findIdlePermits:        {file: "find_idle_permits", params: "limit", columns: "id"},
	deleteGonePermits:      {file: "delete_gone_permits"},
	readOldestNode:         {file: "read_oldest_node", columns: "node"},
	findLaneWork:           {file: "find_lane_work", params: "now queue", columns: "limited rated found next"},
	findLanes:              {file: "find_lanes", params: "limit_id after_id limit", columns: "id"},
	findOccupiedLanes:      {file: "find_occupied_lanes", params: "ids", columns: "id"},
	findPausedPermits:      {file: "find_paused_permits", params: "subject name", columns: "id"},
	insertJobVacancies:     {file: "insert_job_vacancies", params: "ids strict"},
	insertLanes:            {file: "insert_lanes", params: "lanes"},
	insertLimitVacancies:   {file: "insert_limit_vacancies", params: "now"},
	insertVacancies:        {file: "insert_vacancies", params: "vacancies"},
	lockLaneJobs:           {file: "lock_lane_jobs", params: "lanes limit now", columns: laneJobColumns},
	lockLaneHolders:        {file: "lock_lane_holders", params: "lanes limit", columns: "id permits"},
	lockLanes:              {file: "lock_lanes", params: "ids", columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockNewLaneJobs:        {file: "lock_new_lane_jobs", params: "streams queue now scan limit", columns: laneJobColumns},
	lockNewLaneSuspects:    {file: "lock_new_lane_suspects", params: "queue now kinds exact bytes limit", columns: laneJobColumns},
	findOvertakingJobs:     {file: "find_overtaking_jobs", params: "streams queue now limit", columns: laneJobColumns},
	lockPermittedJobs:      {file: "lock_permitted_jobs", params: "queue kind by_key after_id limit", columns: "id permits"},
	lockRunningLaneJobs:    {file: "lock_running_lane_jobs", params: "queue kind by_key", columns: laneJobColumns},
	takeVacancies:          {file: "take_vacancies", params: "limit", columns: "limit_id done_to lanes"},
	updateLanes:            {file: "update_lanes", params: "lanes"},
	findLimitWaits:         {file: "find_limit_waits", params: "most ids", columns: "job_id limit_id key in_use starts tat not_before before"},
	endLimits:              {file: "end_limits", params: "now ids"},
	listLanes:              {file: "list_lanes", params: "limit lanes candidates most now", columns: "key used waiting starts tat not_before"},
	listLimits:             {file: "list_limits", params: "names now most", columns: limitColumns + " in_use waiting keys"},
	findQueueRates:         {file: "find_queue_rates", params: "queue", columns: "id revision rate per burst tat not_before"},
	upsertRateLane:         {file: "upsert_rate_lane", params: "limit tat"},
	findPermits:            {file: "find_permits", params: "limits", columns: "limit_id node permits wants"},
	upsertPermits:          {file: "upsert_permits", params: "permits"},
	deletePermits:          {file: "delete_permits", params: "limits"},
	deleteNodePermits:      {file: "delete_node_permits", params: "nodes"},
	countRunningJobs:       {file: "count_running_jobs", params: "queue", columns: "node jobs"},
	readLimits:             {file: "read_limits", columns: limitColumns},
	upsertLimits:           {file: "upsert_limits", params: "limits now"},
	upsertHandlers:         {file: "upsert_handlers", params: "name events kind group_name job now"},
	findBatch:              {file: "find_batch", params: "id", columns: "finally_id finally_on finally_any"},
	findClaim:              {file: "find_claim", params: "id token", columns: "state"},
	findDecidedEdges:       {file: "find_decided_edges", params: "ids", columns: "id matched missed state reason"},
	findDueSchedules:       {file: "find_due_schedules", params: "soon after_at after_id limit", columns: scheduleColumns},
	findDueSchedulesNamed:  {file: "find_due_schedules_named", params: "names now limit", columns: scheduleColumns},
	findDueStreams:         {file: "find_due_streams", params: "streams queue now", columns: "stream"},
	findFiredSlots:         {file: "find_fired_slots", params: "slots", columns: "place"},
	findKeyHolds:           {file: "find_key_holds", params: "ids now", columns: "job_id until"},
	findKeyHolders:         {file: "find_key_holders", params: "ids now", columns: "kind unique_key id"},
	findMarks:              {file: "find_marks", params: "names", columns: "mark"},
	findNewestSlots:        {file: "find_newest_slots", params: "ids", columns: "schedule_id id slot last outcome reason"},
	findNextDue:            {file: "find_next_due", params: "queue now", columns: "next_due"},
	findNextExpiry:         {file: "find_next_expiry", params: "node", columns: "next_expiry"},
	findNextSchedule:       {file: "find_next_schedule", params: "soon", columns: "next_at"},
	findScheduleJobs:       {file: "find_schedule_jobs", params: "schedule", columns: targetColumns},
	findSuspect:            {file: "find_suspect", params: "queue now", columns: "found"},
	findUndigested:         {file: "find_undigested", params: "kinds queue now limit", columns: "id args"},
	findUniqueJobs:         {file: "find_unique_jobs", params: "keys now", columns: "place id live begun queue priority run_at created_at"},
	holdNode:               {file: "hold_node", params: "node", columns: "alive pauses handled limited permits"},
	insertAttempts:         {file: "insert_attempts", params: "now bytes attempts"},
	insertBatch:            {file: "insert_batch", params: "now on any", columns: "id"},
	insertCalendarUses:     {file: "insert_calendar_uses", params: "uses"},
	insertEvents:           {file: "insert_events", params: "now events"},
	listEvents:             {file: "list_events", given: "oldest", params: "from_id limit", columns: "id at type subjects names slots counts reasons"},
	listNewestEvents:       {file: "list_events", given: "newest", params: "from_id limit", columns: "id at type subjects names slots counts reasons"},
	listOutput:             {file: "list_output", params: "ids first", columns: "job_id block data"},
	pruneEvents:            {file: "prune_events", params: "now limit", columns: "id"},
	readFeed:               {file: "read_feed", columns: "keep gone_id"},
	readPrinted:            {file: "read_printed", params: "id token", columns: "attempt printed output"},
	updateFeed:             {file: "update_feed", params: "keep"},
	updateGoneEvents:       {file: "update_gone_events", params: "id"},
	insertJob:              {file: "insert_job", params: sharedParams + " args"},
	insertJobs:             {file: "insert_jobs", params: "bytes now jobs"},
	insertLinkedJobs:       {file: "insert_jobs", given: "linked", params: "bytes now jobs"},
	insertNode:             {file: "insert_node", params: "name version host labels queues kinds lease now", columns: "id"},
	insertNodeSequence:     {file: "insert_node_sequence"},
	insertSameJobs:         {file: "insert_same_jobs", params: sharedParams + " bytes places"},
	insertSlots:            {file: "insert_slots", params: "now slots"},
	listAttempts:           {file: "list_attempts", params: "ids", columns: "job_id attempt token node started_at finished_at outcome error trace output printed"},
	listBatches:            {file: "list_batches", params: "ids before limit", columns: "id created_at finally_id finally_state state jobs"},
	listCalendars:          {file: "list_calendars", params: "after names limit", columns: calendarColumns},
	listCancelledClaims:    {file: "list_cancelled_claims", params: "node", columns: "id token"},
	listClaims:             {file: "list_claims", params: "node", columns: "id token"},
	listPausedClaims:       {file: "list_paused_claims", params: "node now", columns: "id token"},
	listGroups:             {file: "list_groups", params: "now name", columns: groupColumns},
	listJobs:               {file: "list_jobs", given: "page newest", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listJobsOldestFirst:    {file: "list_jobs", given: "page oldest", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listLinks:              {file: "list_links", params: "ids limit", columns: "job_id on_id delay on state"},
	listNodes:              {file: "list_nodes", columns: nodeColumns},
	listOwners:             {file: "list_owners", params: "after names limit", columns: "name revision digest host synced_at copy_host copy_path copy_digest copy_revision changed_at"},
	listProgress:           {file: "list_progress", params: "ids", columns: "job_id token done total note at"},
	listQueues:             {file: "list_queues", params: "now", columns: "queue ready scheduled running waiting oldest"},
	listKinds:              {file: "list_kinds", params: "now", columns: "kind ready scheduled running waiting oldest"},
	listSchedules:          {file: "list_schedules", params: "after names ids owner calendar group_name limit", columns: scheduleColumns + " since"},
	listSlots:              {file: "list_slots", params: "schedule from to before_slot before_id limit group_name hosts_of", columns: "id schedule_id schedule_name owner slot last count outcome reason job_id recorded_at after_id after_schedule"},
	lockBatchJob:           {file: "lock_batch_job", params: "batch", columns: "id"},
	lockCalendarUsers:      {file: "lock_calendar_users", params: "names", columns: "calendar name next_at"},
	lockCalendars:          {file: "lock_calendars", params: "names", columns: calendarColumns},
	lockClaims:             {file: "lock_claims", params: "claims", columns: "place state reason schedule_id origin handled"},
	lockDueSchedules:       {file: "lock_due_schedules", params: "ids until", columns: "id revision mark next_at paused_at releases"},
	lockFailing:            {file: "lock_failing", params: "ids", columns: "schedule_id failures"},
	lockFile:               {file: "lock_file"},
	lockHeldJobs:           {file: "lock_held_jobs", params: "nodes", columns: "id token node attempt reason headers schedule_id schedule_name slot origin losses begun {spec}"},
	lockJobs:               {file: "lock_jobs", params: "ids", columns: targetColumns},
	lockLiveNodes:          {file: "lock_live_nodes", columns: nodeColumns},
	lockLiveJobs:           {file: "lock_live_jobs", params: "ids", columns: "schedule_id id slot running waiting attempt snoozed origin"},
	lockOwnedSchedules:     {file: "lock_owned_schedules", params: "owner", columns: scheduleColumns},
	lockSchedules:          {file: "lock_schedules", params: "names", columns: scheduleColumns},
	lockTriggeredSchedules: {file: "lock_triggered_schedules", params: "ids", columns: "id mark"},
	lockWaitingJobs:        {file: "lock_waiting_jobs", params: "groups", columns: "place id busy"},
	matchJobs:              {file: "list_jobs", given: "numbers", params: jobFilterParams + jobRangeParams, columns: "id"},
	pruneAttempts:          {file: "prune_attempts", params: "ids most"},
	pruneBatches:           {file: "prune_batches", params: "before limit"},
	pruneCompletedJobs:     {file: "prune_jobs", given: "completed", params: "before now limit", columns: "id"},
	pruneFailedJobs:        {file: "prune_jobs", given: "failed", params: "before now limit", columns: "id"},
	pruneKeptJobs:          {file: "prune_jobs", given: "kept", params: "before now limit", columns: "id"},
	pruneKeyHolds:          {file: "prune_key_holds", params: "now limit"},
	pruneNodes:             {file: "prune_nodes", params: "before limit"},
	pruneSlots:             {file: "prune_slots", params: "before limit"},
	raiseCounter:           {file: "raise_counter", params: "value name"},
	raiseEvents:            {file: "raise_events"},
	raiseLocks:             {file: "raise_locks", params: "margin"},
	raiseNodes:             {file: "raise_nodes", params: "margin"},
	raiseTokens:            {file: "raise_tokens", params: "margin"},
	readClock:              {file: "read_clock", columns: "now"},
	readCounter:            {file: "read_counter", params: "name", columns: "value"},
	readPosition:           {file: "read_position", columns: "store token node accepted lost_at"},
	releaseJobs:            {file: "release_jobs", params: "ids"},
	replaceJobs:            {file: "replace_jobs", params: "bytes jobs"},
	reportLoss:             {file: "report_loss", params: "now token node seen_accepted accepted"},
	requestCancels:         {file: "request_cancels", params: "now reason ids"},
	requeueJobs:            {file: "requeue_jobs", params: "now jobs"},
	resetFailures:          {file: "reset_failures", params: "ids"},
	reviseSchedules:        {file: "revise_schedules", params: "revision names"},
	reviveJobs:             {file: "revive_jobs", params: "jobs"},
	updateBatch:            {file: "update_batch", params: "id finally"},
	updateDigests:          {file: "update_digests", params: "digests"},
	updateJobs:             {file: "update_jobs", params: "jobs"},
	upsertCalendars:        {file: "upsert_calendars", params: "revision bytes now calendars"},
	deleteCopy:             {file: "delete_copy", params: "owner host"},
	deleteHostCopies:       {file: "delete_host_copies", params: "host"},
	deleteHostNodes:        {file: "delete_host_nodes", params: "host"},
	lockHostNodes:          {file: "lock_host_nodes", params: "host", columns: "living ended copies"},
	pruneCopies:            {file: "prune_copies", params: "before limit"},
	upsertCopy:             {file: "upsert_copy", params: "owner host path digest revision changed_at"},
	upsertKeyHolds:         {file: "upsert_key_holds", params: "holds"},
	upsertOutput:           {file: "upsert_output", params: "rows bytes"},
	upsertOwner:            {file: "upsert_owner", params: "owner revision digest host synced_at"},
	upsertProgress:         {file: "upsert_progress", params: "claims now"},
	upsertSchedules:        {file: "upsert_schedules", params: "bytes schedules"},
	markReleases:           {file: "mark_releases", params: "ids"},
	findPredecessors:       {file: "find_predecessors", params: "ids", columns: "id state ended_at reason"},
	insertReleases:         {file: "insert_releases", params: "now ends"},
	insertDeletedReleases:  {file: "insert_deleted_releases", params: "now ids"},
	insertEdges:            {file: "insert_edges", params: "edges"},
	updateWaits:            {file: "update_waits", params: "waits"},
	listReleases:           {file: "list_releases", params: "after_id limit", columns: "id on_id done_to schedule_id ended_at state reason"},
	findEdges:              {file: "find_edges", params: "notes limit", columns: "on_id job_id delay on any_of at_end"},
	findOpenEdges:          {file: "find_edges", given: "open", params: "notes limit", columns: "on_id job_id delay on any_of at_end"},
	findNotStarted:         {file: "find_not_started", params: "ids", columns: "id"},
	findReopenings:         {file: "find_reopenings", params: "ids", columns: "job_id open_edges any_of at_end matched missed latest"},
	insertRetries:          {file: "insert_retries", params: "now ids"},
	reopenEdges:            {file: "reopen_edges", params: "edges"},
	reopenJobs:             {file: "reopen_jobs", params: "waits"},
	findWaiting:            {file: "find_waiting", params: "ids", columns: "id waits run_at"},
	updateEdges:            {file: "update_edges", params: "edges"},
	updateNode:             {file: "update_node", params: "node version host labels queues kinds lease now", columns: "id"},
	updateRelease:          {file: "update_release", params: "done_to id"},
	deleteReleases:         {file: "delete_releases", params: "ids"},
	deleteEdges:            {file: "delete_edges", params: "ids"},
	findRelease:            {file: "find_release", columns: "found"},
	deletePauses:           {file: "delete_pauses", params: "now"},
	findPauseWork:          {file: "find_pause_work", params: "now", columns: "found"},
	findPauses:             {file: "find_pauses", params: "queue now", columns: "queue kinds"},
	listPauses:             {file: "list_pauses", params: "now", columns: pauseColumns},
	lockGroupSchedules:     {file: "lock_group_schedules", params: "group_name", columns: scheduleColumns},
	lockPauses:             {file: "lock_pauses", params: "subject names", columns: pauseColumns},
	parkJobs:               {file: "park_jobs", params: "now limit"},
	unparkJobs:             {file: "unpark_jobs", params: "now limit"},
	upsertPauses:           {file: "upsert_pauses", params: "subject name paused_at until reason actor"},
	findScheduleRelease:    {file: "find_schedule_release", params: "names", columns: "found"},
	findChain:              {file: "find_chain", params: "names", columns: "schedule predecessor"},
	deleteChain:            {file: "delete_chain", params: "names"},
	insertChain:            {file: "insert_chain", params: "edges"},
	markPredecessors:       {file: "mark_predecessors", params: "names"},
	markScheduleJobs:       {file: "mark_schedule_jobs", params: "names"},
	lockFollowers:          {file: "lock_followers", params: "ids", columns: "id mark next_at last predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	insertChainEnds:        {file: "insert_chain_ends", params: "ends"},
	updateNext:             {file: "update_next", params: "schedules"},
	findDueEnds:            {file: "find_due_ends", params: "ids limit", columns: "schedule_id slot predecessor job_id state ended_at reason paused"},
	findFollowedEnds:       {file: "find_followed_ends", params: "ends", columns: "place"},
	closeChainEnds:         {file: "close_chain_ends", params: "ids"},
	awaitChainEnds:         {file: "await_chain_ends", params: "ids"},
	insertLinkReleases:     {file: "insert_link_releases", params: "ids now"},
	insertScheduleReleases: {file: "insert_schedule_releases", params: "notes"},
	pruneChainEnds:         {file: "prune_chain_ends", params: "before limit"},
	listEdges:              {file: "list_edges", params: "ids", columns: "job_id on_id delay on state"},
}

// text is the text of a statement, and the names of its parameters and columns.
type text struct {
	sql     string
	params  []string
	columns []string
}

// texts holds the text of each statement, and of each listing with all lines that
// its calls may give.
type texts [statementCount]text

// allTexts returns what readTexts reads. The texts are the same for all files, so a process reads
// them once.
var allTexts = sync.OnceValues(readTexts)

// macros are conditions that several statements have: {in_queue(queue, name)}, for example.
var macros = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR substr($1, 1, length($2) + 1) = $2 || '@')`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = '' OR {in_queue($4.queue, $1)}) AND $2 IN ('', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// A limit whose permits jobs hold concerns a job.
	"needs_permit": `EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, $1)})`,
	// A claim may take a job: it holds its permits, or needs none.
	"permitted": `(permits IS NOT NULL OR NOT {needs_permit(hourbell_job)})`,
	// A job needs permits, holds none, and no job waits in a lane in which it needs a permit.
	"overtakes": `permits IS NULL AND {needs_permit(hourbell_job)} AND NOT EXISTS (
        SELECT 1 FROM hourbell_job_limit AS t CROSS JOIN hourbell_lane AS l ON l.limit_id = t.id AND l.key = iif(t.by_key, hourbell_job.job_key, '')
        WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, hourbell_job)} AND l.waiting)`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
	// A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
	"deletable": `(NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = $1.id AND u.until > :now) ` +
		`AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = $1.batch)) ` +
		`AND NOT ($1.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = $1.id)))`,
	// Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as prefix.
	"is_or_is_made_from": `$1 IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = $2 UNION ALL ` +
		`SELECT s.id FROM hourbell_schedule AS s WHERE s.name >= $2 || '@' AND s.name < $2 || 'A' AND s.owner = 'every:' || $2)`,
}

// readTexts reads the text of each statement; see package sqltext for what the files
// may have besides SQL. What comes after a statement is cut: the driver keeps only
// statements prepared that end with the text.
func readTexts() (all texts, err error) {
	spec, fixed := specLists()
	rules := sqltext.Rules{Words: store.OriginWords(), Macros: macros, Lists: map[string]string{"schedule_columns": scheduleList, "limit_columns": limitList, "spec": spec, "spec_fixed": fixed}}
	for s, from := range sources {
		file, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		sql := strings.TrimSpace(string(file))
		sql, err = rules.Complete(sql, statement(s).conditions(sql)...)
		if err != nil {
			return all, fmt.Errorf("read statement %v: %w", statement(s), err)
		}
		all[s] = text{sql, rules.Names(from.params), rules.Names(from.columns)}
	}
	return all, nil
}

// named returns the arguments of a statement. Arguments that the statement
// lacks, and missing arguments, are an error.
func (t text) named(s statement, a args) ([]any, error) {
	list := make([]any, 0, len(a))
	for _, name := range t.params {
		value, passed := a[name]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", s, name)
		}
		list = append(list, sql.Named(name, value))
	}
	if len(list) != len(a) {
		return nil, fmt.Errorf("statement %v has the parameters %v only", s, t.params)
	}
	return list, nil
}

// lists reports whether a statement is a listing, whose conditions differ by call.
func (s statement) lists() bool {
	return s == countJobs || s == listAudit || s == listBatches || s == listCalendars || s == listGroups || s == listJobs || s == listJobsOldestFirst || s == listLimits || s == matchJobs || s == listOwners || s == listSchedules || s == listSlots
}

// conditions returns the conditions whose lines belong to a statement. A listing also
// has the lines of the conditions that its calls give.
func (s statement) conditions(file string) []string {
	given := strings.Fields(sources[s].given)
	if !s.lists() {
		return given
	}
	other := map[string]bool{} // given by other statements of the file
	for _, from := range sources {
		for _, condition := range strings.Fields(from.given) {
			other[condition] = other[condition] || from.file == sources[s].file
		}
	}
	for _, condition := range sqltext.Conditions(file) {
		if !other[condition] {
			given = append(given, condition)
		}
	}
	return given
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}
