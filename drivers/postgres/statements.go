package postgres

import (
	"embed"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
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
type statement uint16

const (
	acceptLoss statement = iota
	advanceSchedules
	awaitChainEnds
	beginFailing
	beginJobs
	checkRecorded
	claimExactJobs
	limitedExactJobs
	claimExactSuspects
	limitedExactSuspects
	claimJobs
	limitedJobs
	claimAgedJobs
	limitedAgedJobs
	claimExactAgedJobs
	limitedExactAgedJobs
	claimSuspects
	limitedSuspects
	closeChainEnds
	completeJob
	completeKeptJob
	countBatchJobs
	countFailing
	countJobs
	countLosses
	cutHistoryBatch
	deleteCalendarUses
	deleteCalendars
	deleteCancels
	deleteChain
	deleteCopy
	deleteHostCopies
	deleteHostNodes
	lockHostNodes
	pruneCopies
	deleteClaimBatches
	deleteHandlers
	deleteHistoryBatches
	deleteJobs
	deleteNewJobs
	deleteNodeClaims
	deleteOpenCancels
	deleteOutput
	deleteReleases
	endFailing
	endLimits
	addPermits
	capRate
	useStarts
	allotPermits
	deleteEndedLimits
	deleteLanes
	findDueLanes
	findLaneKeys
	findLaneJobs
	findLaneWaits
	findLaneWork
	findWrongLanes
	returnIdlePermits
	deleteGonePermits
	readOldestNode
	findLanes
	findNewExactLaneJobs
	findNewLaneJobs
	findExactOvertakers
	findOvertakers
	findOccupiedLanes
	insertLanes
	insertLimitVacancies
	returnPausedPermits
	insertVacancies
	lockLaneJobs
	lockIdleLanes
	lockLanes
	lockLaneHolders
	lockNewLaneJobs
	lockPermittedJobs
	lockRunningLaneJobs
	takeKeys
	takeVacancies
	updateLanes
	findLimitWaits
	endJobs
	enterTransaction
	expireNodes
	extendLease
	extendSlots
	findBatch
	findBehindCursors
	findBrokenIndexes
	findBusySchedules
	findCalendarUser
	findChain
	findClaim
	findDecidedEdges
	findDueEnds
	findDueSchedules
	findDueSchedulesNamed
	findEnds
	findBusyDependents
	findExactBehindCursors
	findFiredSlots
	findFiredTo
	findFollowedEnds
	findHeldSchedules
	findHoldingNodes
	findKeyHolders
	findLastEnds
	findMissingRights
	findNewestSlots
	findNextDue
	estimateGroups
	estimateQueues
	estimateKinds
	findNextExpiry
	findNextSchedule
	findOldTransaction
	findOpenCancels
	findEdges
	findNotStarted
	findOpenEdges
	findPredecessors
	findReopenings
	findQueues
	findScheduleJobs
	findScheduleRelease
	findSharedJobs
	findTriggeredSchedules
	findWaitingJobs
	findUniqueJobs
	finishJobs
	finishJobsWithResults
	finishKeptJobs
	forgetJob
	forgetJobs
	holdCalendars
	holdNode
	insertAttempts
	insertBatch
	insertCalendarUses
	insertCalendars
	insertChain
	insertChainEnds
	insertEdges
	insertEvents
	insertLeftReleases
	insertHistoryBatches
	insertJob
	insertJobs
	insertKeyedJobs
	insertLimits
	insertKeyedLinkedJobs
	insertLinkReleases
	insertLinkedJobs
	insertNode
	insertSameJobs
	insertScheduleReleases
	insertSchedules
	insertSlotJobs
	insertSlots
	insertUniqueJob
	leaveNode
	leaveTransaction
	listAttempts
	listBatchJobs
	listCalendarSchedules
	listBatchOldestFirst
	listBatches
	listCalendars
	listCancelledClaims
	listClaims
	listPausedClaims
	listEdges
	listEvents
	listGroups
	listHandlers
	listLanes
	listLimits
	listJobs
	listJobsOldestFirst
	listLinks
	listNewestEvents
	findLiveNodes
	listNodes
	listOutput
	listOwners
	listProgress
	listQueues
	listKinds
	listSchedules
	listSlots
	lockBatchJob
	lockCalendarUsers
	lockCalendars
	lockChain
	lockChainShared
	lockClaims
	lockDependents
	lockFreeDependents
	lockFreeNotStarted
	lockNotStarted
	lockFailing
	lockFinishedJobs
	lockFollowers
	lockFreeSchedules
	lockHeldJobs
	lockHistoryBatches
	lockJobs
	lockLeftNodes
	lockLiveJobs
	lockOwner
	lockReleases
	lockRetriedSchedules
	lockSchedules
	lockSerialGroupJobs
	lockSerialGroups
	lockTriggeredSchedules
	lockWaitingJobs
	markPredecessors
	markReleases
	markScheduleJobs
	matchJobs
	numberJobs
	pruneBatches
	pruneChainEnds
	pruneEvents
	pruneJobs
	pruneKeptJobs
	pruneKeyHolds
	pruneNodes
	pruneNotedJobs
	pruneSlots
	pullJobs
	raiseLocks
	raiseSequences
	readCancels
	readClock
	readClockAgain
	readFeed
	readPosition
	readPrinted
	readServer
	readSnapshot
	releaseJobs
	renewFailing
	reportLoss
	requestCancels
	requeueJobs
	resetFailures
	reopenEdges
	reopenJobs
	reviseSchedules
	reviveJobs
	uncountFiredSlots
	updateBatch
	updateCalendars
	updateEdges
	updateFeed
	updateJobs
	updateLeftNodes
	updateNext
	updateNode
	updateOwner
	updateRelease
	updateSchedules
	updateUniqueJobs
	updateWaits
	upsertCopy
	upsertKeyHolds
	upsertOutput
	upsertProgress
	deletePauses
	listPauses
	lockClaimingNodes
	lockEndedPauses
	lockGroupSchedules
	lockHandlerTable
	lockLimitTable
	readLimits
	lockQueueLimits
	findPermits
	upsertPermits
	deletePermits
	countRunningJobs
	insertRateLanes
	lockRateLanes
	updateRateLanes
	updateLimits
	lockPauseTable
	upsertHandlers
	lockPauses
	parkJobs
	unparkJobs
	upsertPauses
	insertAudit
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
	params  string // the parameters, in the order in which callers pass them
	columns string // the columns, in the order in which callers scan them
}

// sources has the source of each statement.
var sources = [statementCount]source{
	insertAudit:            {file: "insert_audit", params: "now actor source action count detail kinds names", columns: "id"},
	listAudit:              {file: "list_audit", params: "actor action kind name since before_at before_id limit", columns: "id at actor source action count detail kinds names"},
	pruneAudit:             {file: "prune_audit", params: "now keep limit", columns: "deleted seen"},
	updateAudit:            {file: "update_audit", params: "id count kinds names most", columns: "found"},
	acceptLoss:             {file: "accept_loss", columns: "seen_token seen_node"},
	advanceSchedules:       {file: "advance_schedules", params: "now until ids revisions marks next_ats paused_ats new_marks new_next_ats fired ahead", columns: "id early releases"},
	beginFailing:           {file: "begin_failing", params: "now ids failures", columns: "schedule_id"},
	beginJobs:              {file: "begin_jobs", params: "now node batch ids tokens handled", columns: "node handled paused"},
	checkRecorded:          {file: "check_recorded", params: "ids tokens states forgets", columns: "id token"},
	claimAgedJobs:          {file: "claim_jobs", given: "plain aged unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for", columns: claimedColumns},
	limitedAgedJobs:        {file: "claim_jobs", given: "plain aged limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for at_once new_permits", columns: claimedColumns},
	claimExactAgedJobs:     {file: "claim_jobs", given: "exact plain aged unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	limitedExactAgedJobs:   {file: "claim_jobs", given: "exact plain aged limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision due_for at_once new_permits exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	claimExactJobs:         {file: "claim_jobs", given: "exact plain unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	limitedExactJobs:       {file: "claim_jobs", given: "exact plain limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	claimExactSuspects:     {file: "claim_jobs", given: "exact suspects unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	limitedExactSuspects:   {file: "claim_jobs", given: "exact suspects limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits exact_kinds exact_jobs exact_digests", columns: claimedColumns},
	claimJobs:              {file: "claim_jobs", given: "plain unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision", columns: claimedColumns},
	limitedJobs:            {file: "claim_jobs", given: "plain limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits", columns: claimedColumns},
	claimSuspects:          {file: "claim_jobs", given: "suspects unlimited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision", columns: claimedColumns},
	limitedSuspects:        {file: "claim_jobs", given: "suspects limited", params: "now node queue kinds limit low_run_ats low_ids begin despite_ends limited limit_revision at_once new_permits", columns: claimedColumns},
	completeJob:            {file: "finish_jobs", given: "commits results", params: "now ids tokens states reasons handled noted results identity", columns: "ended releases"},
	completeKeptJob:        {file: "finish_jobs", given: "commits results kept", params: "now ids tokens states reasons handled noted results keeps identity", columns: "ended releases"},
	countBatchJobs:         {file: "list_jobs", given: "numbers open count batch", params: jobFilterParams + jobRangeParams, columns: "count"},
	countFailing:           {file: "count_failing", params: "ids failures"},
	countJobs:              {file: "list_jobs", given: "numbers open count", params: jobFilterParams + jobRangeParams, columns: "count"},
	countLosses:            {file: "count_losses", params: "ids"},
	cutHistoryBatch:        {file: "cut_history_batch", params: "failed finished_at id left"},
	deleteCalendarUses:     {file: "delete_calendar_uses", params: "schedules"},
	deleteCalendars:        {file: "delete_calendars", params: "names"},
	deleteCancels:          {file: "delete_cancels", params: "ids"},
	deleteClaimBatches:     {file: "delete_claim_batches", params: "node batches"},
	deleteHistoryBatches:   {file: "delete_history_batches", params: "failed finished_ats ids"},
	deleteJobs:             {file: "delete_jobs", params: "now ids", columns: "schedule_id backfill"},
	deleteNewJobs:          {file: "delete_new_jobs", params: "ids", columns: "deleted"},
	deleteNodeClaims:       {file: "delete_node_claims", params: "nodes"},
	deleteOpenCancels:      {file: "delete_open_cancels", params: "ids", columns: "job_id reason"},
	deleteOutput:           {file: "delete_output", params: "ids"},
	endFailing:             {file: "end_failing", params: "ids"},
	endJobs:                {file: "end_jobs", params: "now ids states reasons", columns: "schedule_id backfill"},
	enterTransaction:       {file: "enter_transaction", columns: "store instant seqscan hashjoin mergejoin bitmapscan jit"},
	expireNodes:            {file: "expire_nodes", params: "now node", columns: nodeColumns},
	extendLease:            {file: "extend_lease", params: "now node", columns: "seen_at beats " + positionColumns + " releases"},
	extendSlots:            {file: "extend_slots", params: "now schedules slots ids lasts counts"},
	findBatch:              {file: "find_batch", params: "id", columns: "finally_id finally_on finally_any"},
	findBehindCursors:      {file: "find_behind_cursors", params: "queue kinds low_run_ats low_ids since", columns: "priority run_at id"},
	findBusySchedules:      {file: "find_busy_schedules", params: "now until ahead ids revisions marks next_ats paused_ats", columns: "id"},
	findCalendarUser:       {file: "find_calendar_user", params: "names", columns: "calendar"},
	findClaim:              {file: "find_claim", params: "id token", columns: "state"},
	findDecidedEdges:       {file: "find_decided_edges", params: "ids", columns: "id matched missed state reason"},
	findDueSchedules:       {file: "find_due_schedules", params: "now limit ahead after_at after_id", columns: scheduleColumns},
	findDueSchedulesNamed:  {file: "find_due_schedules_named", params: "now limit names", columns: scheduleColumns},
	findExactBehindCursors: {file: "find_behind_cursors", given: "exact", params: "queue kinds low_run_ats low_ids since exact_kinds exact_jobs exact_digests", columns: "priority run_at id"},
	findFiredSlots:         {file: "find_fired_slots", params: "schedules slots", columns: "schedule_id slot"},
	findFiredTo:            {file: "find_fired_to", params: "now names most_ahead", columns: "fired_to"},
	findHeldSchedules:      {file: "find_held_schedules", params: "schedules", columns: "schedule_id"},
	findHoldingNodes:       {file: "find_holding_nodes", params: "nodes", columns: "node"},
	findKeyHolders:         {file: "find_key_holders", params: "now ids", columns: "id kind unique_key holder"},
	findNewestSlots:        {file: "find_newest_slots", params: "schedules", columns: "id schedule_id slot last count outcome reason"},
	estimateGroups:         {file: "estimate_groups", params: "shares numbers", columns: "name schedules ready scheduled running waiting job_part schedule_part"},
	estimateQueues:         {file: "estimate_queues", params: "shares numbers", columns: "queue ready scheduled running waiting oldest part"},
	estimateKinds:          {file: "estimate_kinds", params: "shares numbers", columns: "kind ready scheduled running waiting oldest part"},
	findNextDue:            {file: "find_next_due", params: "now queue limited", columns: "next_due pauses last ended queue handled limit_revision not_before permits rated"},
	findNextExpiry:         {file: "find_next_expiry", params: "node", columns: "next_expiry"},
	findNextSchedule:       {file: "find_next_schedule", params: "now ahead", columns: "now next_at"},
	findOpenCancels:        {file: "find_open_cancels", params: "limit", columns: "job_id"},
	findScheduleJobs:       {file: "find_schedule_jobs", params: "schedule", columns: "id"},
	findSharedJobs:         {file: "find_shared_jobs", params: "ids", columns: "id running node"},
	findTriggeredSchedules: {file: "lock_triggered_schedules", params: "now schedules", columns: "id now mark"},
	findUniqueJobs:         {file: "find_unique_jobs", params: "now kind unique_key", columns: "ids"},
	finishJobs:             {file: "finish_jobs", given: "batch", params: "now ids tokens states reasons handled noted", columns: "id schedule_id backfill releases"},
	finishJobsWithResults:  {file: "finish_jobs", given: "batch results", params: "now ids tokens states reasons handled noted results", columns: "id schedule_id backfill releases"},
	finishKeptJobs:         {file: "finish_jobs", given: "batch results kept", params: "now ids tokens states reasons handled noted results keeps", columns: "id schedule_id backfill releases"},
	forgetJob:              {file: "forget_jobs", given: "commits", params: "now ids tokens states reasons handled identity", columns: "ended releases"},
	forgetJobs:             {file: "forget_jobs", given: "batch", params: "now ids tokens states reasons handled", columns: "id schedule_id backfill releases"},
	holdCalendars:          {file: "hold_calendars", params: "names", columns: "name"},
	holdNode:               {file: "hold_node", params: "now node", columns: "now"},
	insertAttempts:         {file: "insert_attempts", params: "now ids outcomes errors traces outputs printed most"},
	insertBatch:            {file: "insert_batch", params: "now on any", columns: "id"},
	insertCalendarUses:     {file: "insert_calendar_uses", params: "calendars names"},
	insertCalendars:        {file: "insert_calendars", params: "now names definitions", columns: "name revision"},
	insertEvents:           {file: "insert_events", params: "now type subjects slots counts reasons"},
	listEvents:             {file: "list_events", given: "oldest", params: "from_tx from_id limit", columns: "tx id at type subjects names slots counts reasons"},
	listNewestEvents:       {file: "list_events", given: "newest", params: "from_tx from_id limit", columns: "tx id at type subjects names slots counts reasons"},
	listOutput:             {file: "list_output", params: "ids first_block", columns: "job_id block data"},
	pruneEvents:            {file: "prune_events", params: "now limit", columns: "deleted seen"},
	readFeed:               {file: "read_feed", columns: "keep_us gone_tx gone_id next_tx held"},
	readPrinted:            {file: "read_printed", params: "id token", columns: "attempt printed output"},
	updateFeed:             {file: "update_feed", params: "keep"},
	insertHistoryBatches:   {file: "insert_history_batches", params: "now completed_ids failed_ids"},
	insertJob:              {file: "insert_job", given: "plain", params: newJobParams, columns: "ids sent"},
	insertJobs:             {file: "insert_jobs", params: newJobParams, columns: "ids sent"},
	insertKeyedJobs:        {file: "insert_keyed_jobs", params: newJobParams + " ids", columns: "ids inserted sent"},
	insertKeyedLinkedJobs:  {file: "insert_keyed_jobs", given: "linked", params: newJobParams + linkedParams + " ids", columns: "ids inserted sent"},
	insertLinkedJobs:       {file: "insert_jobs", given: "linked", params: newJobParams + linkedParams, columns: "ids sent"},
	insertNode:             {file: "insert_node", params: "now name version host labels queues kinds zones lease", columns: "node seen_at"},
	insertSameJobs:         {file: "insert_same_jobs", params: newJobParams, columns: "ids sent"},
	insertSchedules:        {file: "insert_schedules", params: "now owner names definitions paused groups group_paused_ats group_paused_untils", columns: "id"},
	insertSlotJobs:         {file: "insert_jobs", given: "slots", params: newJobParams, columns: "ids sent"},
	insertSlots:            {file: "insert_slots", params: "now schedules slots lasts counts outcomes reasons"},
	insertUniqueJob:        {file: "insert_job", given: "unique", params: newJobParams, columns: "ids sent"},
	leaveNode:              {file: "leave_node", params: "now node", columns: nodeColumns},
	leaveTransaction:       {file: "leave_transaction", params: "seqscan hashjoin mergejoin bitmapscan jit"},
	listAttempts:           {file: "list_attempts", params: "ids", columns: "job_id attempt token node started_at finished_at outcome error trace output printed"},
	listBatchJobs:          {file: "list_jobs", given: "page open newest batch", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listBatchOldestFirst:   {file: "list_jobs", given: "page open oldest batch", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listBatches:            {file: "list_batches", params: "ids before limit", columns: "id created_at finally_id finally_state state jobs"},
	listCalendars:          {file: "list_calendars", params: "names after limit", columns: calendarColumns},
	listCancelledClaims:    {file: "list_cancelled_claims", params: "node", columns: "id token"},
	listClaims:             {file: "list_claims", params: "node", columns: "id token"},
	listPausedClaims:       {file: "list_paused_claims", params: "now node", columns: "id token"},
	listGroups:             {file: "list_groups", params: "now name", columns: groupColumns},
	listJobs:               {file: "list_jobs", given: "page open newest", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listJobsOldestFirst:    {file: "list_jobs", given: "page open oldest", params: jobFilterParams + jobRangeParams + jobPageParams, columns: jobColumns},
	listLinks:              {file: "list_links", params: "ids limit", columns: "job_id on_id delay_us on state"},
	findLiveNodes:          {file: "find_live_nodes", columns: "id host labels queues kinds"},
	listNodes:              {file: "list_nodes", columns: nodeColumns},
	listOwners:             {file: "list_owners", params: "names after limit", columns: ownerRows},
	listProgress:           {file: "list_progress", params: "ids", columns: "job_id token done total note at stuck"},
	listQueues:             {file: "list_queues", params: "now", columns: "queue ready scheduled running waiting oldest"},
	listKinds:              {file: "list_kinds", params: "now", columns: "kind ready scheduled running waiting oldest"},
	listSchedules:          {file: "list_schedules", given: "any", params: scheduleFilterParams, columns: scheduleColumns + " since"},
	listCalendarSchedules:  {file: "list_schedules", given: "calendar", params: scheduleFilterParams, columns: scheduleColumns + " since"},
	listSlots:              {file: "list_slots", params: "schedule from to before_slot before_id limit group_name hosts_of", columns: "id schedule_id schedule_name owner slot last count outcome reason job_id recorded_at after_id after_schedule"},
	lockBatchJob:           {file: "lock_batch_job", params: "batch", columns: "id"},
	lockCalendarUsers:      {file: "lock_calendar_users", params: "now names", columns: "id name due"},
	lockCalendars:          {file: "lock_calendars", params: "names", columns: calendarColumns},
	lockClaims:             {file: "lock_claims", params: "ids tokens", columns: "id running schedule_id backfill handled"},
	lockFailing:            {file: "lock_failing", params: "ids", columns: "schedule_id failures"},
	lockFinishedJobs:       {file: "lock_finished_jobs", params: "ids", columns: "id"},
	lockFreeSchedules:      {file: "lock_free_schedules", params: "ids", columns: "id"},
	lockHeldJobs:           {file: "lock_held_jobs", params: "nodes", columns: heldColumns},
	lockHistoryBatches:     {file: "lock_history_batches", params: "now keep limit failed", columns: "finished_at id ids"},
	lockJobs:               {file: "lock_jobs", params: "ids now", columns: "id node running waiting later"},
	lockLeftNodes:          {file: "lock_left_nodes", params: "now node", columns: "id name died"},
	lockLiveJobs:           {file: "lock_live_jobs", params: "now schedules", columns: "id schedule_id slot running waiting attempt snoozed origin node due starts_at limited queue kind group_name job_key"},
	lockOwner:              {file: "lock_owner", params: "owner revision now", columns: ownerColumns + " now"},
	lockRetriedSchedules:   {file: "lock_retried_schedules", params: "ids", columns: "id"},
	lockSchedules:          {file: "lock_schedules", params: "names owner", columns: scheduleColumns},
	lockSerialGroupJobs:    {file: "lock_serial_group_jobs", params: "schedules", columns: "id"},
	lockSerialGroups:       {file: "lock_serial_groups", params: "schedules", columns: "id"},
	lockTriggeredSchedules: {file: "lock_triggered_schedules", given: "locking", params: "now schedules", columns: "id now mark"},
	lockWaitingJobs:        {file: "lock_waiting_jobs", params: "schedules backfills", columns: "id schedule_id backfill"},
	matchJobs:              {file: "list_jobs", given: "numbers match", params: jobFilterParams, columns: "id"},
	numberJobs:             {file: "number_jobs", params: "count", columns: "ids"},
	pruneBatches:           {file: "prune_batches", params: "now keep limit", columns: "deleted"},
	pruneJobs:              {file: "prune_jobs", params: "now keep limit failed", columns: "deleted seen"},
	pruneKeptJobs:          {file: "prune_kept_jobs", params: "now limit", columns: "deleted seen"},
	pruneKeyHolds:          {file: "prune_key_holds", params: "now limit", columns: "deleted"},
	pruneNodes:             {file: "prune_nodes", params: "now keep limit", columns: "deleted seen"},
	pruneNotedJobs:         {file: "prune_noted_jobs", params: "now keep ids failed", columns: "deleted"},
	pruneSlots:             {file: "prune_slots", params: "now keep limit", columns: "deleted seen"},
	pullJobs:               {file: "pull_jobs", params: "now ids most_ahead"},
	raiseLocks:             {file: "raise_locks", params: "margin"},
	raiseSequences:         {file: "raise_sequences", params: "token node margin nodes_margin", columns: "token node"},
	readCancels:            {file: "read_cancels", params: "ids", columns: "job_id reason"},
	readClock:              {file: "read_clock", params: "now", columns: "now"},
	readClockAgain:         {file: "read_clock_again", params: "now", columns: "now"},
	readServer:             {file: "read_server", params: "schema", columns: "version version_number database role encoding standby autovacuum connections_left has_schema may_migrate"},
	findBrokenIndexes:      {file: "find_broken_indexes", params: "schema", columns: "name"},
	findMissingRights:      {file: "find_missing_rights", params: "schema", columns: "kind name rights"},
	findOldTransaction:     {file: "find_old_transaction", params: "seconds", columns: "process name seconds"},
	readPosition:           {file: "read_position", columns: positionColumns},
	readSnapshot:           {file: "read_snapshot", columns: "snapshot server"},
	releaseJobs:            {file: "release_jobs", params: "ids", columns: "queue"},
	renewFailing:           {file: "renew_failing", params: "now ids failures"},
	reportLoss:             {file: "report_loss", params: "now accepted token node seen_accepted"},
	requestCancels:         {file: "request_cancels", params: "now ids nodes reason"},
	requeueJobs:            {file: "requeue_jobs", params: "now ids delays refunds counted well lost snoozed", columns: "queue"},
	resetFailures:          {file: "reset_failures", params: "ids"},
	reviseSchedules:        {file: "revise_schedules", params: "schedules"},
	reviveJobs:             {file: "revive_jobs", params: "now ids most_ahead", columns: "id"},
	uncountFiredSlots:      {file: "uncount_fired_slots", params: "ids fired"},
	updateBatch:            {file: "update_batch", params: "id finally"},
	updateCalendars:        {file: "update_calendars", params: "now names definitions", columns: "name revision"},
	updateJobs:             {file: "update_jobs", params: "now ids queue priority"},
	updateOwner:            {file: "update_owner", params: "owner revision digest host synced_at"},
	deleteCopy:             {file: "delete_copy", params: "owner host"},
	deleteHostCopies:       {file: "delete_host_copies", params: "host"},
	deleteHostNodes:        {file: "delete_host_nodes", params: "host"},
	lockHostNodes:          {file: "lock_host_nodes", params: "host", columns: "living ended copies"},
	pruneCopies:            {file: "prune_copies", params: "now keep limit", columns: "deleted seen"},
	upsertCopy:             {file: "upsert_copy", params: "owner host path digest revision changed_at"},
	updateLeftNodes:        {file: "update_left_nodes", params: "now wait left nodes"},
	updateNode:             {file: "update_node", params: "now node version host labels queues kinds zones lease", columns: "id seen_at"},
	updateSchedules:        {file: "update_schedules", params: "ids owners revisions definitions anchors marks next_ats paused_ats declared updated_ats deleted_ats paused_untils groups group_paused_ats group_paused_untils"},
	takeKeys:               {file: "take_keys", params: "now kinds keys untils repeats froms", columns: "place id"},
	updateUniqueJobs:       {file: "update_unique_jobs", params: newJobParams + " on_conflicts most untils", columns: "ids changed sent"},
	upsertOutput:           {file: "upsert_output", params: "ids tokens first_blocks last_blocks block_ids blocks data", columns: "id token"},
	upsertProgress:         {file: "upsert_progress", params: "now ids tokens done total notes stuck"},
	upsertKeyHolds:         {file: "upsert_key_holds", params: "now ids holds kind unique_key", columns: "ids"},
	markReleases:           {file: "mark_releases", params: "ids"},
	findEnds:               {file: "find_ends", params: "ids", columns: "id state finished_at reason"},
	deletePauses:           {file: "delete_pauses", params: "now paused_subjects names"},
	listPauses:             {file: "list_pauses", params: "now", columns: pauseColumns},
	lockClaimingNodes:      {file: "lock_claiming_nodes", columns: "node"},
	lockEndedPauses:        {file: "lock_ended_pauses", params: "now", columns: "subject name"},
	lockGroupSchedules:     {file: "lock_group_schedules", params: "group_name", columns: scheduleColumns},
	addPermits:             {file: "add_permits", params: "ids lanes"},
	capRate:                {file: "cap_rate", params: "greatest limit_id"},
	useStarts:              {file: "use_starts", params: "ids", columns: "job_id lane"},
	allotPermits:           {file: "allot_permits", params: "now ids states lanes held"},
	deleteEndedLimits:      {file: "delete_ended_limits"},
	deleteLanes:            {file: "delete_lanes", params: "ids"},
	findDueLanes:           {file: "find_due_lanes", params: "now limit", columns: "id"},
	findLaneKeys:           {file: "find_lane_keys", params: "limits keys", columns: "limit_id key id"},
	findLaneJobs:           {file: "lock_lane_jobs", params: "now lanes most", columns: laneJobColumns},
	findWrongLanes:         {file: "find_wrong_lanes", params: "lanes limit", columns: "id held starts"},
	returnIdlePermits:      {file: "return_idle_permits", params: "limit"},
	deleteGonePermits:      {file: "delete_gone_permits"},
	readOldestNode:         {file: "read_oldest_node", columns: "node"},
	findLaneWaits:          {file: "find_lane_waits", params: "now", columns: "found"},
	findLaneWork:           {file: "find_lane_work", params: "now queue node", columns: "limited rated found pauses ended next alive paused"},
	findLanes:              {file: "find_lanes", params: "limit_id after_id limit", columns: "id"},
	findNewExactLaneJobs:   {file: "find_new_lane_jobs", given: "window exact", params: "now queue kinds low_run_ats low_ids suspects scan limit exact_kinds exact_jobs exact_digests", columns: "id priority run_at"},
	findNewLaneJobs:        {file: "find_new_lane_jobs", given: "window", params: "now queue kinds low_run_ats low_ids suspects scan limit", columns: "id priority run_at"},
	findExactOvertakers:    {file: "find_new_lane_jobs", given: "overtaking exact", params: "now queue kinds low_run_ats low_ids suspects limit exact_kinds exact_jobs exact_digests", columns: "id priority run_at"},
	findOvertakers:         {file: "find_new_lane_jobs", given: "overtaking", params: "now queue kinds low_run_ats low_ids suspects limit", columns: "id priority run_at"},
	findOccupiedLanes:      {file: "find_occupied_lanes", params: "ids", columns: "id"},
	insertLanes:            {file: "insert_lanes", params: "limits keys"},
	insertLimitVacancies:   {file: "insert_limit_vacancies"},
	returnPausedPermits:    {file: "return_paused_permits", params: "subject name"},
	insertVacancies:        {file: "insert_vacancies", params: "limits done_tos"},
	lockLaneJobs:           {file: "lock_lane_jobs", given: "lock", params: "now lanes most", columns: laneJobColumns},
	lockLaneHolders:        {file: "lock_lane_holders", params: "lanes limit", columns: "id permits"},
	lockIdleLanes:          {file: "lock_idle_lanes", params: "limit", columns: "id"},
	lockLanes:              {file: "lock_lanes", params: "ids", columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockNewLaneJobs:        {file: "lock_new_lane_jobs", params: "ids", columns: laneJobColumns},
	lockPermittedJobs:      {file: "lock_permitted_jobs", params: "queue kind by_key after_id limit", columns: "id permits"},
	lockRunningLaneJobs:    {file: "lock_running_lane_jobs", params: "queue kind by_key", columns: laneJobColumns},
	takeVacancies:          {file: "take_vacancies", params: "limit", columns: "limit_id done_to lanes"},
	updateLanes:            {file: "update_lanes", params: "ids used starts waiting tats not_befores look_ats"},
	findLimitWaits:         {file: "find_limit_waits", params: "now most ids", columns: "job_id limit_id key in_use starts tat not_before now before"},
	endLimits:              {file: "end_limits", params: "now ids"},
	insertLimits:           {file: "insert_limits", params: "now names owners queues kinds by_keys concurrencies rates pers bursts weights stricts created_ats", columns: "name revision"},
	listLanes:              {file: "list_lanes", params: "limits lanes candidates most now", columns: "limit_id key used waiting starts tat not_before now"},
	listLimits:             {file: "list_limits", params: "names now most", columns: limitColumns + " in_use waiting keys"},
	lockLimitTable:         {file: "lock_limit_table"},
	lockQueueLimits:        {file: "lock_queue_limits", params: "queue", columns: limitColumns},
	findPermits:            {file: "find_permits", params: "limits", columns: "limit_id node permits wants"},
	upsertPermits:          {file: "upsert_permits", params: "limits nodes permits wants"},
	deletePermits:          {file: "delete_permits", params: "limits"},
	countRunningJobs:       {file: "count_running_jobs", params: "queue", columns: "node jobs"},
	insertRateLanes:        {file: "insert_rate_lanes", params: "queue"},
	lockRateLanes:          {file: "lock_rate_lanes", params: "queue", columns: "id tat rate per_us burst"},
	updateRateLanes:        {file: "update_rate_lanes", params: "ids tats"},
	readLimits:             {file: "read_limits", columns: limitColumns},
	updateLimits:           {file: "update_limits", params: "now ids owners concurrencies rates pers bursts weights stricts", columns: "name revision"},
	deleteHandlers:         {file: "delete_handlers", params: "names"},
	findWaitingJobs:        {file: "find_waiting_jobs", params: "ids", columns: "id kind group_name origin"},
	listHandlers:           {file: "list_handlers", columns: handlerColumns},
	lockHandlerTable:       {file: "lock_handler_table"},
	upsertHandlers:         {file: "upsert_handlers", params: "name events kind group_name job now"},
	lockPauseTable:         {file: "lock_pause_table"},
	lockPauses:             {file: "lock_pauses", params: "subject names", columns: pauseColumns},
	parkJobs:               {file: "park_jobs", params: "now limit"},
	unparkJobs:             {file: "unpark_jobs", params: "names limit"},
	upsertPauses:           {file: "upsert_pauses", params: "subject name paused_at until reason actor"},
	insertEdges:            {file: "insert_edges", params: "on_ids ids delays ons states anys at_ends"},
	updateWaits:            {file: "update_waits", params: "ids waits run_ats", columns: "queue"},
	lockReleases:           {file: "lock_releases", params: "after_id rows limit", columns: "id number place last done_to ended_at on_id state reason schedule_id held"},
	findQueues:             {file: "find_queues", params: "ids", columns: "queue"},
	findEdges:              {file: "find_edges", params: "on_ids done_tos numbers limit", columns: "place job_id delay_us on any_of at_end"},
	findOpenEdges:          {file: "find_edges", given: "open", params: "on_ids done_tos numbers limit", columns: "place job_id delay_us on any_of at_end"},
	findNotStarted:         {file: "find_not_started", params: "ids", columns: "id kind unique_key"},
	findReopenings:         {file: "find_reopenings", params: "ids", columns: "job_id open_edges any_of at_end matched missed latest"},
	lockNotStarted:         {file: "lock_not_started", given: "waiting", params: "ids", columns: "id"},
	lockFreeNotStarted:     {file: "lock_not_started", given: "free", params: "ids", columns: "id"},
	reopenEdges:            {file: "reopen_edges", params: "on_ids ids numbers"},
	reopenJobs:             {file: "reopen_jobs", params: "ids waits latest now"},
	lockDependents:         {file: "lock_dependents", given: "waiting", params: "ids", columns: "id waits run_at"},
	lockFreeDependents:     {file: "lock_dependents", given: "free", params: "ids", columns: "id waits run_at"},
	findBusyDependents:     {file: "find_busy_dependents", params: "ids", columns: "id"},
	findPredecessors:       {file: "find_predecessors", params: "ids", columns: "id"},
	insertLinkReleases:     {file: "insert_link_releases", params: "now channel wake ids", columns: "sent"},
	updateEdges:            {file: "update_edges", params: "on_ids ids states numbers"},
	insertLeftReleases:     {file: "insert_left_releases", params: "numbers ids schedules done_tos ended_ats states reasons"},
	updateRelease:          {file: "update_release", params: "id place done_to"},
	deleteReleases:         {file: "delete_releases", params: "ids"},
	lockChain:              {file: "lock_chain", given: "changing", columns: "locked"},
	lockChainShared:        {file: "lock_chain", given: "creating", columns: "locked"},
	findScheduleRelease:    {file: "find_schedule_release", params: "names", columns: "found"},
	findChain:              {file: "find_chain", params: "names", columns: "schedule predecessor"},
	deleteChain:            {file: "delete_chain", params: "schedules"},
	insertChain:            {file: "insert_chain", params: "predecessors names"},
	markPredecessors:       {file: "mark_predecessors", params: "names", columns: "id"},
	markScheduleJobs:       {file: "mark_schedule_jobs", params: "schedules"},
	lockFollowers:          {file: "lock_followers", params: "schedules", columns: "id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	findLastEnds:           {file: "find_last_ends", params: "schedules", columns: "id last"},
	insertChainEnds:        {file: "insert_chain_ends", params: "schedules slots jobs ended_ats states paused predecessors reasons"},
	updateNext:             {file: "update_next", params: "ids next_ats"},
	findDueEnds:            {file: "find_due_ends", params: "schedules limit", columns: "schedule_id slot predecessor job_id state ended_at reason paused"},
	findFollowedEnds:       {file: "find_followed_ends", params: "schedules jobs", columns: "schedule_id job_id"},
	closeChainEnds:         {file: "close_chain_ends", params: "schedules"},
	awaitChainEnds:         {file: "await_chain_ends", params: "schedules"},
	insertScheduleReleases: {file: "insert_schedule_releases", params: "on_ids schedules ended_ats states reasons"},
	pruneChainEnds:         {file: "prune_chain_ends", params: "now keep limit", columns: "deleted seen"},
	listEdges:              {file: "list_edges", params: "ids", columns: "job_id on_id delay_us on state"},
}

// texts holds the text of each statement, with the schema and the numbers of the
// parameters filled in.
type texts [statementCount]string

// readTexts reads the text of each statement; see package sqltext for what the files
// may have besides SQL.
func readTexts(schema string) (all texts, err error) {
	rules := rulesOf(schema)
	for s, from := range sources {
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		all[s], err = rules.Complete(string(text), strings.Fields(from.given)...)
		if err == nil {
			all[s], err = sqltext.Number(all[s], rules.Names(from.params))
		}
		if err != nil {
			return all, fmt.Errorf("read statement %v: %w", statement(s), err)
		}
	}
	return all, nil
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}

// q returns the text of a statement.
func (b *Backend) q(s statement) string { return b.sql[s] }

// rulesOf returns the rules for the texts of statements.
func rulesOf(schema string) sqltext.Rules {
	lists := specLists()
	lists["schedule_columns"], lists["limit_columns"] = scheduleList, limitList
	words := schemaWords(schema)
	maps.Copy(words, store.OriginWords())
	return sqltext.Rules{Words: words, Macros: macros, Lists: lists}
}

// macros are parts that several statements have: {in_queue(queue, name)}, for example.
var macros = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR starts_with($1, $2 || '@'))`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = '' OR {in_queue($4.queue, $1)}) AND $2 IN ('', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
	// A pause that is active concerns a job. Claims compare in other ways, because they look at many jobs.
	"paused": `EXISTS (SELECT FROM {schema}.pause AS p WHERE coalesce(p.until > coalesce(:now::timestamptz, now()), true) AND {concerns(p.subject, p.name, $1)})`,
	// A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
	"deletable": `(NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = $1.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
		AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT FROM {schema}.job AS b WHERE b.batch = $1.batch OFFSET 0))
		AND NOT ($1.releases AND EXISTS (SELECT FROM {schema}.edge AS e, LATERAL (
			SELECT FROM {schema}.job AS d WHERE d.id = ANY (ARRAY[e.job_id]) OFFSET 0) AS d WHERE e.on_id = $1.id OFFSET 0)))`,
	// A live job does not run, and is due at an instant; NULL: now.
	"due": `(state <= 0 AND NOT running AND run_at <= coalesce($1, now()))`,
	// The columns that count live jobs by what they do at an instant; NULL: now.
	"live_counts": `count(*) FILTER (WHERE {due($1)}) AS ready, count(*) FILTER (WHERE state <= 0 AND NOT running AND run_at > coalesce($1, now())) AS scheduled,
		count(*) FILTER (WHERE running) AS running, count(*) FILTER (WHERE state = 1) AS waiting`,
	// A count by samples. span: the first number of the rows of a table, and how many numbers there are from it to the last. samples:
	// :shares ranges of numbers, spread evenly, of at most :numbers numbers each. part: the share of all numbers in the samples.
	"span": `SELECT min(id) AS first, max(id) - min(id) + 1 AS numbers FROM {schema}.$1`,
	"samples": `SELECT r.first + r.numbers * s / :shares::bigint AS from_id,
		r.first + least(r.numbers * s / :shares + :numbers::bigint, r.numbers * (s + 1) / :shares) AS to_id
		FROM $1 AS r, generate_series(0, :shares - 1) AS s`,
	"part": `(SELECT sum(s.to_id - s.from_id)::float8 FROM $1 AS s) / (SELECT r.numbers FROM $2 AS r)`,
	// Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as prefix.
	"is_or_is_made_from": `$1 = ANY (ARRAY(SELECT id FROM {schema}.schedule WHERE name = $2 OR owner = 'every:' || $2 AND name >= $2 || '@' AND name < $2 || 'A'))`,
}

// schemaWords are what statements and migrations have in braces: {schema}, the quoted
// name, and {schema_text}, the same inside a string literal.
func schemaWords(schema string) map[string]string {
	quoted := pgx.Identifier{schema}.Sanitize()
	return map[string]string{"schema": quoted, "schema_text": strings.ReplaceAll(quoted, "'", "''")}
}

// withSchema fills in the words in braces.
func withSchema(text, schema string) string {
	for word, is := range schemaWords(schema) {
		text = strings.ReplaceAll(text, "{"+word+"}", is)
	}
	return text
}

// readMigrations reads the migrations. Each ends by noting that it was applied.
func readMigrations(schema string) []store.Migration {
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
