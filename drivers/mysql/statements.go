package mysql

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement uint16

const (
	acceptLoss statement = iota
	advanceSchedules
	awaitChainEnds
	beginFailing
	beginJobs
	checkRecorded
	claimJobs
	claimJobsMixed
	findDuePriorities
	findNode
	findSuspect
	lockDueJobs
	lockSuspects
	lockLimitedDueJobs
	lockLimitedSuspects
	raiseCounter
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
	endJobsAlike
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
	findUniqueJobs
	holdNode
	insertAttempts
	insertBatch
	insertCalendarUses
	insertChain
	insertChainEnds
	insertDeletedReleases
	insertEdges
	insertEvents
	insertJobs
	insertNode
	insertReleases
	insertRetries
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
	listSchedules
	listSlots
	lockBatchJob
	lockCalendarUsers
	lockCalendars
	lockClaims
	lockDueSchedules
	lockFailing
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
	pruneEvents
	pruneKeyHolds
	pruneNodes
	pruneSlots
	raiseLocks
	raiseNodes
	raiseTokens
	readClock
	readIncrement
	readFeed
	readPosition
	readPrinted
	releaseJobs
	replaceJob
	reportLoss
	requestCancels
	requeueJobs
	resetFailures
	reopenEdges
	reopenJobs
	reviseSchedules
	reviveJobs
	updateBatch
	updateEdges
	updateNode
	updateFeed
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
	admitJobs
	clearPermits
	deleteEndedLimits
	deleteLanes
	findDueLanes
	findLaneKeys
	findLaneWork
	findLanes
	findOccupiedLanes
	findPausedPermits
	insertLanes
	insertLimitVacancies
	insertVacancies
	lockLaneJobs
	lockLanes
	lockNewLaneJobs
	lockPermittedJobs
	lockRunningLaneJobs
	takeVacancies
	updateLanes
	findLimitWaits
	listLanes
	listLimits
	readLimits
	findQueueRates
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
	countJobsBefore
	countLaneJobs
	countLimit
	countQueueLimit
	deleteVacancies
	findJobPermits
	findLaneJobs
	findNewLaneJobs
	findOldAudit
	findOldEvents
	findOldJobs
	findOldKeptJobs
	findOldNodes
	findParkableOfGroup
	findParkableOfKey
	findParkedOfGroup
	findParkedOfKey
	findPermittedJobs
	findRunningLaneJobs
	findScheduleNames
	findStrictLanes
	findUnnumberedEvents
	listAuditSubjects
	lockAudit
	lockClaimingNodes
	lockCounter
	lockEndedPauses
	lockFeed
	lockLimitTable
	lockOldJobs
	lockParkedJobs
	lockParkingPauses
	lockPauseTable
	lockQueueLimits
	lockRateLanes
	lockUnparkedJobs
	numberEvents
	pruneJobs
	readLaneJobs
	updateRateLanes
	deleteWakes
	lockClaim
	lockOldWakes
	raiseWake
	readWakes
	findColumns
	findOldTransaction
	findWrongTables
	readServer
	renewFailing
	insertLeftReleases
	insertOwner
	lockOwner
	lockReleases
	lockDependents
	lockFreeDependents
	lockNotStarted
	lockFreeNotStarted
	findBusyDependents
	lockPredecessors
	findEnds
	lockFinishedJobs
	lockRetriedSchedules
	findBusyGroups
	findLastEnds
	findTriggeredMarks
	giveNumbers
	lockUniqueJobs
	lockKeyHolds
	findLiveNodes
	findOldAttempts
	findJobNodes
	findNodeNames
	lockFreePredecessors
	lockFreeFollowers
	lockFreeDueSchedules
	findDueOnes
	lockFreeLiveJobs
	findLiveJobs
	findHoldingNodes
	findLeftNodes
	lockLeftNodes
	updateLeftNodes
	findWrongLanes
	findIdleJobs
	findIdleLanes
	findIdleHeads
	findGonePermits
	deleteGonePermits
	readOldestNode
	lockSerialGroupJobs
	touchJobs
	touchLanes
	touchLimits
	touchPause
	capRate
	findLaneHolders
	useStarts
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
	lockSerialGroupJobs:    {file: "lock_serial_group_jobs", params: "schedules", columns: "id"},
	touchLanes:             {file: "touch_lanes", params: "ids"},
	touchLimits:            {file: "touch_limits", params: "ids"},
	touchPause:             {file: "touch_pause", params: "subject name"},
	capRate:                {file: "cap_rate", params: "greatest limit_id"},
	useStarts:              {file: "use_starts", params: "jobs"},
	touchJobs:              {file: "touch_jobs", params: "ids"},
	findLiveJobs:           {file: "lock_live_jobs", params: "ids", columns: "schedule_id id slot running waiting attempt snoozed origin"},
	lockFreeLiveJobs:       {file: "lock_live_jobs", given: "free", params: "ids", columns: "schedule_id id slot running waiting attempt snoozed origin"},
	findDueOnes:            {file: "lock_due_schedules", params: "ids until", columns: "id revision mark next_at paused_at releases"},
	lockFreeDueSchedules:   {file: "lock_due_schedules", given: "free", params: "ids until", columns: "id revision mark next_at paused_at releases"},
	lockFreeFollowers:      {file: "lock_followers", given: "free", params: "ids", columns: "id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	lockFreePredecessors:   {file: "lock_predecessors", given: "free", params: "ids", columns: "id"},
	lockClaimingNodes:      {file: "lock_claiming_nodes", columns: "id"},
	lockParkedJobs:         {file: "lock_pausable_jobs", given: "parked", params: "ids", columns: "id"},
	lockUnparkedJobs:       {file: "lock_pausable_jobs", given: "unparked", params: "ids", columns: "id"},
	findParkedOfKey:        {file: "find_parked_jobs", given: "of_key", params: "name now limit", columns: "id"},
	findParkedOfGroup:      {file: "find_parked_jobs", given: "of_group", params: "name now limit", columns: "id"},
	findParkableOfKey:      {file: "find_parkable_jobs", given: "of_key", params: "name now limit", columns: "id"},
	findParkableOfGroup:    {file: "find_parkable_jobs", given: "of_group", params: "name now limit", columns: "id"},
	lockEndedPauses:        {file: "lock_ended_pauses", params: "now", columns: "subject name"},
	lockParkingPauses:      {file: "lock_parking_pauses", params: "now", columns: "subject name"},
	lockPauseTable:         {file: "lock_pause_table"},
	findOldNodes:           {file: "find_old_nodes", params: "before limit", columns: "id"},
	pruneJobs:              {file: "prune_jobs", params: "ids"},
	lockOldJobs:            {file: "lock_old_jobs", params: "ids", columns: "id"},
	findOldKeptJobs:        {file: "find_old_jobs", given: "kept", params: "before now limit", columns: "id ended"},
	findOldJobs:            {file: "find_old_jobs", given: "aged", params: "state before now limit", columns: "id ended"},
	lockCounter:            {file: "lock_counter", params: "name", columns: "value"},
	lockFeed:               {file: "lock_feed", columns: "keep"},
	numberEvents:           {file: "number_events", params: "entries last"},
	findUnnumberedEvents:   {file: "find_unnumbered_events", params: "limit", columns: "entry"},
	findOldEvents:          {file: "find_old_events", params: "now limit", columns: "id"},
	findScheduleNames:      {file: "find_schedule_names", params: "ids", columns: "id name"},
	lockQueueLimits:        {file: "lock_queue_limits", params: "queue", columns: limitColumns},
	lockLimitTable:         {file: "lock_limit_table"},
	updateRateLanes:        {file: "update_rate_lanes", params: "limit tat"},
	findLaneHolders:        {file: "find_lane_holders", params: "lanes limit", columns: "id"},
	lockRateLanes:          {file: "lock_rate_lanes", params: "limits", columns: "limit_id tat"},
	countQueueLimit:        {file: "count_limit", given: "whole", params: "limit queue now most", columns: "in_use waiting lanes"},
	countLimit:             {file: "count_limit", given: "lanes", params: "limit most", columns: "in_use waiting lanes"},
	countLaneJobs:          {file: "count_lane_jobs", params: "lane most", columns: "lane jobs"},
	countJobsBefore:        {file: "count_jobs_before", params: "id lane priority state run_at most", columns: "job_id jobs"},
	findStrictLanes:        {file: "find_strict_lanes", params: "ids", columns: "id strict rated"},
	findJobPermits:         {file: "find_job_permits", params: "ids", columns: "id permits"},
	findPermittedJobs:      {file: "find_permitted_jobs", params: "queue kind by_key after_id limit", columns: "id"},
	findRunningLaneJobs:    {file: "find_running_lane_jobs", params: "queue kind by_key", columns: "id"},
	findNewLaneJobs:        {file: "find_new_lane_jobs", params: "queue now suspects kinds exact_kinds exact limit", columns: "id"},
	readLaneJobs:           {file: "lock_lane_jobs", given: "waiting", params: "ids", columns: laneJobColumns},
	findLaneJobs:           {file: "find_lane_jobs", params: "lane limit now", columns: "id"},
	deleteVacancies:        {file: "delete_vacancies", params: "ids"},
	findOldAudit:           {file: "find_old_audit", params: "before limit", columns: "id"},
	lockAudit:              {file: "lock_audit", params: "id", columns: "known"},
	listAuditSubjects:      {file: "list_audit_subjects", params: "ids", columns: "entry_id kind name"},
	renewFailing:           {file: "renew_failing", params: "now failing"},
	insertLeftReleases:     {file: "insert_left_releases", params: "number on_id schedule done_to ended_at state reason"},
	insertOwner:            {file: "insert_owner", params: "owner revision"},
	lockOwner:              {file: "lock_owner", params: "owner", columns: "name revision digest host synced_at copy_host copy_path copy_digest copy_revision changed_at"},
	lockReleases:           {file: "lock_releases", params: "after_id limit", columns: "id number on_id done_to schedule_id ended_at state reason held"},
	lockDependents:         {file: "lock_dependents", given: "waiting", params: "ids", columns: "id waits run_at"},
	lockFreeDependents:     {file: "lock_dependents", given: "free", params: "ids", columns: "id waits run_at"},
	lockNotStarted:         {file: "lock_not_started", given: "waiting", params: "ids", columns: "id"},
	lockFreeNotStarted:     {file: "lock_not_started", given: "free", params: "ids", columns: "id"},
	findBusyDependents:     {file: "find_busy_dependents", params: "ids", columns: "id"},
	lockPredecessors:       {file: "lock_predecessors", given: "waiting", params: "ids", columns: "id"},
	findEnds:               {file: "find_ends", params: "ids", columns: "id state finished_at reason"},
	lockFinishedJobs:       {file: "lock_finished_jobs", params: "ids", columns: targetColumns},
	lockRetriedSchedules:   {file: "lock_retried_schedules", params: "ids", columns: "id"},
	findBusyGroups:         {file: "find_busy_groups", params: "groups", columns: "place"},
	findLastEnds:           {file: "find_last_ends", params: "ids", columns: "schedule_id last"},
	findTriggeredMarks:     {file: "lock_triggered_schedules", params: "ids", columns: "id mark"},
	deleteAuditSubjects:    {file: "delete_audit_subjects", params: "ids"},
	insertAudit:            {file: "insert_audit", params: "now actor source action count detail"},
	insertAuditSubjects:    {file: "insert_audit_subjects", params: "id place kind name"},
	listAudit:              {file: "list_audit", params: "actor action kind name since before_at before_id limit", columns: "id at actor source action count detail"},
	pruneAudit:             {file: "prune_audit", params: "ids"},
	updateAudit:            {file: "update_audit", params: "id count"},
	giveNumbers:            {file: "give_numbers", params: "name count"},
	findUniqueJobs:         {file: "find_unique_jobs", params: "keys", columns: "place id begun queue priority run_at created_at"},
	lockUniqueJobs:         {file: "find_unique_jobs", given: "lock", params: "keys", columns: "place id begun queue priority run_at created_at"},
	lockKeyHolds:           {file: "lock_key_holds", params: "keys now", columns: "place job_id"},
	findLiveNodes:          {file: "lock_live_nodes", columns: nodeColumns},
	findOldAttempts:        {file: "find_old_attempts", params: "ids skip", columns: "job_id token"},
	findJobNodes:           {file: "find_job_nodes", params: "ids", columns: "id node"},
	findNodeNames:          {file: "find_node_names", params: "nodes", columns: "id name"},
	acceptLoss:             {file: "accept_loss"},
	advanceSchedules:       {file: "advance_schedules", params: "schedules"},
	beginFailing:           {file: "begin_failing", params: "now failing"},
	beginJobs:              {file: "begin_jobs", params: "claims node"},
	checkRecorded:          {file: "check_recorded", params: "claims", columns: "place state"},
	claimJobs:              {file: "claim_jobs", given: "in_order", params: "ids before begin node now"},
	claimJobsMixed:         {file: "claim_jobs", given: "mixed", params: "ids places before begin node now"},
	findDuePriorities:      {file: "find_due_priorities", params: "queue now kinds exact_kinds exact", columns: "priority"},
	findNode:               {file: "hold_node", params: "node", columns: "alive pauses handled limited permits"},
	findSuspect:            {file: "find_suspect", params: "queue now", columns: "found"},
	lockLimitedDueJobs:     {file: "lock_due_jobs", given: "limited", params: "queue now kinds exact_kinds exact priority limit window offset", columns: claimedColumns},
	lockLimitedSuspects:    {file: "lock_suspects", given: "limited", params: "queue now kinds exact_kinds exact limit window offset", columns: claimedColumns},
	lockDueJobs:            {file: "lock_due_jobs", given: "unlimited", params: "queue now kinds exact_kinds exact priority limit window offset", columns: claimedColumns},
	lockSuspects:           {file: "lock_suspects", given: "unlimited", params: "queue now kinds exact_kinds exact limit window offset", columns: claimedColumns},
	raiseCounter:           {file: "raise_counter", params: "value name"},
	countFailing:           {file: "count_failing", params: "failing"},
	countJobs:              {file: "list_jobs", given: "count", params: jobFilterParams + jobRangeParams, columns: "count"},
	countLosses:            {file: "count_losses", params: "ids"},
	cutOutput:              {file: "cut_output", params: "windows"},
	deleteAttempts:         {file: "delete_attempts", params: "ids"},
	deleteCalendarUses:     {file: "delete_calendar_uses", params: "names"},
	deleteCalendars:        {file: "delete_calendars", params: "names"},
	deleteCancels:          {file: "delete_cancels", params: "ids"},
	deleteEndedJobs:        {file: "delete_ended_jobs", params: "ids"},
	deleteFinishedJobs:     {file: "delete_finished_jobs", params: "ids"},
	deleteJobs:             {file: "delete_jobs", params: "ids"},
	deleteKeyHolds:         {file: "delete_key_holds", params: "ids"},
	deleteOutput:           {file: "delete_output", params: "ids"},
	deleteProgress:         {file: "delete_progress", params: "ids"},
	endFailing:             {file: "end_failing", params: "ids"},
	endJobs:                {file: "end_jobs", given: "each", params: "now ends"},
	endJobsAlike:           {file: "end_jobs", given: "alike", params: "now ids state"},
	endJobsWithResults:     {file: "end_jobs", given: "each results kept", params: "now ends"},
	endNodes:               {file: "end_nodes", params: "now died nodes"},
	extendLease:            {file: "extend_lease", params: "now node"},
	extendSlots:            {file: "extend_slots", params: "now slots"},
	deleteHandlers:         {file: "delete_handlers", params: "names"},
	findWaitingJobs:        {file: "find_waiting_jobs", params: "ids", columns: "id kind group_name origin"},
	listHandlers:           {file: "list_handlers", columns: "name events kind group_name job updated_at"},
	addPermits:             {file: "add_permits", params: "jobs"},
	admitJobs:              {file: "admit_jobs", params: "now jobs"},
	clearPermits:           {file: "clear_permits", params: "ids"},
	deleteEndedLimits:      {file: "delete_ended_limits"},
	deleteLanes:            {file: "delete_lanes", params: "ids"},
	findDueLanes:           {file: "find_due_lanes", params: "now limit", columns: "id"},
	findLaneKeys:           {file: "find_lane_keys", params: "lanes", columns: "limit_id key id"},
	findWrongLanes:         {file: "find_wrong_lanes", params: "all lanes limit", columns: "id held starts"},
	findIdleJobs:           {file: "find_idle_jobs", params: "served limit", columns: "id"},
	findIdleLanes:          {file: "find_idle_lanes", params: "served limit", columns: "id"},
	findIdleHeads:          {file: "find_idle_heads", params: "lane served", columns: "id"},
	findGonePermits:        {file: "find_gone_permits", columns: "limit_id node"},
	deleteGonePermits:      {file: "delete_gone_permits", params: "permits"},
	readOldestNode:         {file: "read_oldest_node", columns: "node"},
	findLaneWork:           {file: "find_lane_work", params: "now queue", columns: "limited rated found next_look"},
	findLanes:              {file: "find_lanes", params: "limit_id after_id limit", columns: "id"},
	findOccupiedLanes:      {file: "find_occupied_lanes", params: "ids", columns: "id"},
	findPausedPermits:      {file: "find_paused_permits", params: "subject name", columns: "id"},
	insertLanes:            {file: "insert_lanes", params: "limit key"},
	insertLimitVacancies:   {file: "insert_limit_vacancies"},
	insertVacancies:        {file: "insert_vacancies", params: "limit done_to lanes"},
	lockLaneJobs:           {file: "lock_lane_jobs", given: "waiting lock", params: "ids", columns: laneJobColumns},
	lockLanes:              {file: "lock_lanes", params: "ids", columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockNewLaneJobs:        {file: "lock_lane_jobs", given: "fresh lock", params: "ids", columns: laneJobColumns},
	lockPermittedJobs:      {file: "lock_permitted_jobs", params: "ids", columns: "id permits"},
	lockRunningLaneJobs:    {file: "lock_lane_jobs", given: "running lock", params: "ids", columns: laneJobColumns},
	takeVacancies:          {file: "take_vacancies", params: "limit", columns: "id limit_id done_to lanes"},
	updateLanes:            {file: "update_lanes", params: "lanes"},
	findLimitWaits:         {file: "find_limit_waits", params: "ids", columns: "job_id limit_id key in_use starts tat not_before lane priority state run_at"},
	endLimits:              {file: "end_limits", params: "now ids"},
	listLanes:              {file: "list_lanes", params: "limit candidates", columns: "id key used starts tat not_before"},
	listLimits:             {file: "list_limits", params: "names", columns: limitColumns},
	findQueueRates:         {file: "find_queue_rates", params: "queue", columns: "id revision rate per burst tat not_before made"},
	findPermits:            {file: "find_permits", params: "limits", columns: "limit_id node permits wants"},
	upsertPermits:          {file: "upsert_permits", params: "limit node permits wants"},
	deletePermits:          {file: "delete_permits", params: "limits"},
	deleteNodePermits:      {file: "delete_node_permits", params: "nodes"},
	countRunningJobs:       {file: "count_running_jobs", params: "queue", columns: "node jobs"},
	readLimits:             {file: "read_limits", columns: limitColumns},
	upsertLimits:           {file: "upsert_limits", params: "id name owner revision queue kind by_key concurrency rate per burst weights strict created_at now"},
	upsertHandlers:         {file: "upsert_handlers", params: "name events kind group_name job now"},
	findBatch:              {file: "find_batch", params: "id", columns: "finally_id finally_on finally_any"},
	findClaim:              {file: "find_claim", params: "id token", columns: "state"},
	findDecidedEdges:       {file: "find_decided_edges", params: "ids", columns: "id matched missed state reason"},
	findDueSchedules:       {file: "find_due_schedules", params: "soon after_at after_id limit", columns: scheduleColumns},
	findDueSchedulesNamed:  {file: "find_due_schedules_named", params: "names now limit", columns: scheduleColumns},
	findFiredSlots:         {file: "find_fired_slots", params: "slots", columns: "place"},
	findKeyHolds:           {file: "find_key_holds", params: "ids now", columns: "job_id until"},
	findKeyHolders:         {file: "find_key_holders", params: "ids now", columns: "kind unique_key id live"},
	findMarks:              {file: "find_marks", params: "names", columns: "mark"},
	findNewestSlots:        {file: "find_newest_slots", params: "ids", columns: "schedule_id id slot last outcome reason"},
	findNextDue:            {file: "find_next_due", params: "queue now", columns: "next_due"},
	findNextExpiry:         {file: "find_next_expiry", params: "node", columns: "next_expiry"},
	findNextSchedule:       {file: "find_next_schedule", params: "soon", columns: "next_at"},
	findScheduleJobs:       {file: "find_schedule_jobs", params: "schedule", columns: targetColumns},
	holdNode:               {file: "hold_node", given: "hold", params: "node", columns: "alive pauses handled limited permits"},
	insertAttempts:         {file: "insert_attempts", params: "now bytes attempts"},
	insertBatch:            {file: "insert_batch", params: "now on any"},
	insertCalendarUses:     {file: "insert_calendar_uses", params: "uses"},
	insertEvents:           {file: "insert_events", params: "now events"},
	listEvents:             {file: "list_events", given: "oldest", params: "from_id limit", columns: "id at type subjects slots counts reasons"},
	listNewestEvents:       {file: "list_events", given: "newest", params: "from_id limit", columns: "id at type subjects slots counts reasons"},
	listOutput:             {file: "list_output", params: "ids first", columns: "job_id block data"},
	pruneEvents:            {file: "prune_events", params: "ids"},
	readFeed:               {file: "read_feed", columns: "keep gone_id unnumbered"},
	readPrinted:            {file: "read_printed", params: "id token", columns: "attempt printed output"},
	updateFeed:             {file: "update_feed", params: "keep"},
	insertJobs:             {file: "insert_jobs", params: "run_at created_at slot schedule origin state waits releases args headers {spec}"},
	insertNode:             {file: "insert_node", params: "node name version host labels queues kinds lease now"},
	insertSlots:            {file: "insert_slots", params: "schedule slot last count outcome reason job now"},
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
	lockClaims:             {file: "lock_claims", params: "claims", columns: "place state reason schedule_id origin handled concerns"},
	lockDueSchedules:       {file: "lock_due_schedules", given: "waiting", params: "ids until", columns: "id revision mark next_at paused_at releases"},
	lockFailing:            {file: "lock_failing", params: "ids", columns: "schedule_id failures"},
	lockHeldJobs:           {file: "lock_held_jobs", params: "node", columns: "id token node attempt reason headers schedule_id schedule_name slot origin losses begun {spec}"},
	lockJobs:               {file: "lock_jobs", params: "ids", columns: targetColumns},
	lockLiveNodes:          {file: "lock_live_nodes", given: "lock", columns: nodeColumns},
	lockLiveJobs:           {file: "lock_live_jobs", given: "waiting", params: "ids", columns: "schedule_id id slot running waiting attempt snoozed origin"},
	lockOwnedSchedules:     {file: "lock_owned_schedules", params: "owner", columns: scheduleColumns},
	lockSchedules:          {file: "lock_schedules", params: "names", columns: scheduleColumns},
	lockTriggeredSchedules: {file: "lock_triggered_schedules", given: "locking", params: "ids", columns: "id mark"},
	lockWaitingJobs:        {file: "lock_waiting_jobs", params: "groups", columns: "place id"},
	matchJobs:              {file: "list_jobs", given: "numbers", params: jobFilterParams + jobRangeParams, columns: "id"},
	pruneAttempts:          {file: "prune_attempts", params: "id token"},
	pruneBatches:           {file: "prune_batches", params: "before limit"},
	pruneKeyHolds:          {file: "prune_key_holds", params: "now limit"},
	pruneNodes:             {file: "prune_nodes", params: "ids"},
	pruneSlots:             {file: "prune_slots", params: "before limit"},
	raiseLocks:             {file: "raise_locks", params: "margin"},
	raiseNodes:             {file: "raise_nodes", params: "margin"},
	raiseTokens:            {file: "raise_tokens", params: "margin"},
	readClock:              {file: "read_clock", columns: "now"},
	readIncrement:          {file: "read_increment", columns: "step"},
	readPosition:           {file: "read_position", columns: "store token node accepted lost_at"},
	releaseJobs:            {file: "release_jobs", params: "ids"},
	replaceJob:             {file: "replace_job", params: "id args headers {spec}"},
	reportLoss:             {file: "report_loss", params: "now token node seen_accepted accepted"},
	requestCancels:         {file: "request_cancels", params: "id now reason"},
	requeueJobs:            {file: "requeue_jobs", params: "now jobs"},
	resetFailures:          {file: "reset_failures", params: "ids"},
	reviseSchedules:        {file: "revise_schedules", params: "revision names"},
	reviveJobs:             {file: "revive_jobs", params: "jobs"},
	updateBatch:            {file: "update_batch", params: "id finally"},
	updateJobs:             {file: "update_jobs", params: "jobs"},
	upsertCalendars:        {file: "upsert_calendars", params: "name revision definition now"},
	deleteCopy:             {file: "delete_copy", params: "owner host"},
	deleteHostCopies:       {file: "delete_host_copies", params: "host"},
	deleteHostNodes:        {file: "delete_host_nodes", params: "host"},
	lockHostNodes:          {file: "lock_host_nodes", params: "host", columns: "living ended copies"},
	pruneCopies:            {file: "prune_copies", params: "before limit"},
	upsertCopy:             {file: "upsert_copy", params: "owner host path digest revision changed_at"},
	upsertKeyHolds:         {file: "upsert_key_holds", params: "kind unique id until"},
	upsertOutput:           {file: "upsert_output", params: "id token block data"},
	upsertOwner:            {file: "upsert_owner", params: "owner revision digest host synced_at"},
	upsertProgress:         {file: "upsert_progress", params: "claims now"},
	upsertSchedules:        {file: "upsert_schedules", params: "name owner revision definition group_name anchor mark next_at fired paused_at paused_until group_paused_at group_paused_until paused_declared created_at updated_at deleted_at"},
	markReleases:           {file: "mark_releases", params: "ids"},
	findPredecessors:       {file: "find_predecessors", params: "ids", columns: "id"},
	insertReleases:         {file: "insert_releases", params: "now ends"},
	insertDeletedReleases:  {file: "insert_deleted_releases", params: "now ids"},
	insertEdges:            {file: "insert_edges", params: "on_id id delay on state any at_end"},
	updateWaits:            {file: "update_waits", params: "waits"},
	findEdges:              {file: "find_edges", params: "notes limit", columns: "on_id job_id delay on any_of at_end"},
	findOpenEdges:          {file: "find_edges", given: "open", params: "notes limit", columns: "on_id job_id delay on any_of at_end"},
	findNotStarted:         {file: "find_not_started", params: "ids", columns: "id"},
	findReopenings:         {file: "find_reopenings", params: "ids", columns: "job_id open_edges any_of at_end matched missed latest"},
	insertRetries:          {file: "insert_retries", params: "now ids"},
	reopenEdges:            {file: "reopen_edges", params: "edges"},
	reopenJobs:             {file: "reopen_jobs", params: "waits"},
	updateEdges:            {file: "update_edges", params: "edges"},
	updateNode:             {file: "update_node", params: "node version host labels queues kinds lease now"},
	updateRelease:          {file: "update_release", params: "done_to id"},
	deleteReleases:         {file: "delete_releases", params: "ids"},
	deleteEdges:            {file: "delete_edges", params: "ids"},
	findRelease:            {file: "find_release", columns: "found"},
	deletePauses:           {file: "delete_pauses", params: "subject name"},
	findPauseWork:          {file: "find_pause_work", params: "now", columns: "found"},
	findPauses:             {file: "find_pauses", params: "now", columns: "subject name"},
	listPauses:             {file: "list_pauses", params: "now", columns: pauseColumns},
	lockGroupSchedules:     {file: "lock_group_schedules", params: "group_name", columns: scheduleColumns},
	lockPauses:             {file: "lock_pauses", params: "subject names", columns: pauseColumns},
	parkJobs:               {file: "park_jobs", params: "ids"},
	unparkJobs:             {file: "unpark_jobs", params: "ids"},
	upsertPauses:           {file: "upsert_pauses", params: "subject name paused_at until reason actor"},
	findScheduleRelease:    {file: "find_schedule_release", params: "names", columns: "found"},
	findChain:              {file: "find_chain", params: "names", columns: "schedule predecessor"},
	deleteChain:            {file: "delete_chain", params: "names"},
	insertChain:            {file: "insert_chain", params: "edges"},
	markPredecessors:       {file: "mark_predecessors", params: "names owners"},
	markScheduleJobs:       {file: "mark_schedule_jobs", params: "names owners"},
	lockFollowers:          {file: "lock_followers", given: "waiting", params: "ids", columns: "id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	insertChainEnds:        {file: "insert_chain_ends", params: "schedule slot job ended_at state paused after reason"},
	updateNext:             {file: "update_next", params: "schedules"},
	findDueEnds:            {file: "find_due_ends", params: "ids limit", columns: "schedule_id slot predecessor job_id state ended_at reason paused"},
	findFollowedEnds:       {file: "find_followed_ends", params: "ends", columns: "place"},
	closeChainEnds:         {file: "close_chain_ends", params: "ids"},
	awaitChainEnds:         {file: "await_chain_ends", params: "ids"},
	deleteWakes:            {file: "delete_wakes", params: "sources"},
	lockClaim:              {file: "lock_claim", params: "id", columns: "token"},
	lockOldWakes:           {file: "lock_old_wakes", params: "age", columns: "source"},
	raiseWake:              {file: "raise_wake", params: "source jobs schedules cancels"},
	findColumns:            {file: "find_columns", columns: "name column_name"},
	findOldTransaction:     {file: "find_old_transaction", params: "seconds", columns: "connection seconds"},
	findWrongTables:        {file: "find_wrong_tables", columns: "name engine"},
	readServer:             {file: "read_server", columns: "version database_name user_name is_read_only flushes has_log syncs packet clock"},
	findHoldingNodes:       {file: "find_holding_nodes", params: "nodes", columns: "node"},
	findLeftNodes:          {file: "find_left_nodes", params: "now", columns: "found"},
	lockLeftNodes:          {file: "lock_left_nodes", params: "now", columns: nodeColumns},
	updateLeftNodes:        {file: "update_left_nodes", params: "now wait left nodes"},
	readWakes:              {file: "read_wakes", columns: "source jobs schedules cancels"},
	insertLinkReleases:     {file: "insert_link_releases", params: "on_id now"},
	insertScheduleReleases: {file: "insert_schedule_releases", params: "on_id schedule ended_at state reason"},
	pruneChainEnds:         {file: "prune_chain_ends", params: "before limit"},
	listEdges:              {file: "list_edges", params: "ids", columns: "job_id on_id delay on state"},
}

// text is the text of a statement, and the names of its parameters and columns.
type text struct {
	sql     string
	pieces  []sqltext.Piece // of sql; nil for a listing, whose lines each call picks
	params  []string
	columns []string
}

// texts holds the text of each statement, and of each listing with all lines that
// its calls may give.
type texts [statementCount]text

// variant is what the texts of statements depend on.
type variant struct {
	mariaDB bool
	callers bool // they run in a transaction of the program
}

// readTexts are the texts that were read, by variant. The texts are the same for all servers of a kind, so a process reads
// them once.
var (
	readMu    sync.Mutex
	readTexts = map[variant]*texts{}
)

// textsFor returns the text of each statement.
func textsFor(v variant) (*texts, error) {
	readMu.Lock()
	defer readMu.Unlock()
	if ready := readTexts[v]; ready != nil {
		return ready, nil
	}
	all, err := v.read()
	if err == nil {
		readTexts[v] = all
	}
	return all, err
}

// rules complete the files in sql/. Besides the words of package store there are
//
//   - {at(X)}: the instant X, which is a number of microseconds since 1970, as DATETIME(6).
//   - {micros(X)}: the way back. Instants are numbers between the driver and the server, so
//     that neither the time zone of the session nor settings of a program's connections matter.
//   - {started(X)}: when the last attempt of a live job began, from its column X: NULL for the instant that means none.
//   - {schedule_columns}: the columns of a schedule; instants are numbers.
//   - {bin}: the collation that compares by bytes, also spaces at the end.
//   - {share}: at the end of a statement that only finds rows, by which the caller decides. In
//     a program's transaction, which may see an old snapshot, it makes the statement read, and lock,
//     the newest rows.
//   - {node_name}: the name of the node of job j, for an insert of selected rows. In a program's transaction
//     such a statement would lock the node, so there the caller passes the name in row o; see session.nodeNames.
func (v variant) rules() sqltext.Rules {
	words := store.OriginWords()
	words["bin"] = v.collation()
	words["share"], words["node_name"] = "", "COALESCE((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), _utf8mb4'')"
	if v.callers {
		words["share"], words["node_name"] = "LOCK IN SHARE MODE", "COALESCE(o.node_name, _utf8mb4'')"
	}
	spec, fixed := specLists()
	return sqltext.Rules{Words: words, Macros: conditions, Lists: map[string]string{"schedule_columns": scheduleList, "limit_columns": limitList, "spec": spec, "spec_fixed": fixed}}
}

// conditions are conditions that several statements have: {in_queue(queue, name)}, for example.
var conditions = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR left($1, char_length($2) + 1) = concat($2, _utf8mb4'@'))`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = _utf8mb4'' OR {in_queue($4.queue, $1)}) AND $2 IN (_utf8mb4'', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
}

// macros are {at(X)}, {micros(X)}, {started(X)}, {schedule_columns}, {limit_columns}, {claimable(J)}: the job J is due, and of a kind that the
// claim takes, or exact; and {each_priority(SELECT …)}: the rows of that SELECT for each priority, which it names PRIORITY. A
// priority from a row would not let the server read in the order of an index.
var macros = map[string]func(string) string{
	"schedule_columns": func(string) string { return scheduleSelect },
	"at": func(x string) string {
		return "(TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL (" + x + ") MICROSECOND)"
	},
	"micros": func(x string) string {
		return "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00.000000', " + x + ")"
	},
	"started": func(x string) string { // NULLIF of MySQL loses microseconds
		return "CASE WHEN " + x + " <> TIMESTAMP'1970-01-01 00:00:00.000000' THEN " + x + " END"
	},
	"each_priority": func(query string) string {
		var all []string
		for priority := 1; priority <= 9; priority++ {
			all = append(all, "("+strings.ReplaceAll(query, "PRIORITY", strconv.Itoa(priority))+")")
		}
		return strings.Join(all, " UNION ALL ")
	},
	"limit_columns": func(string) string { return limitSelect },
	"claimable": func(job string) string {
		return strings.ReplaceAll("(j.queue = :queue AND j.state = 0 AND j.run_at <= {at(:now)} AND (j.kind IN (:kinds) "+
			"OR j.kind IN (:exact_kinds) AND CONCAT(LOWER(SHA2(j.args, 256)), j.kind) IN (:exact)))", "j.", job+".")
	},
}

// read reads the text of each statement; see package sqltext for what the files
// may have besides SQL. Comments are left out.
func (v variant) read() (*texts, error) {
	all, rules := &texts{}, v.rules()
	for s, from := range sources {
		file, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return nil, fmt.Errorf("read statements: %w", err)
		}
		sql := sqltext.Expand(strings.TrimSpace(string(file)), macros)
		sql, err = rules.Complete(sql, statement(s).conditions(sql)...)
		if err != nil {
			return nil, fmt.Errorf("read statement %v: %w", statement(s), err)
		}
		one := text{sql: sql, params: rules.Names(from.params), columns: rules.Names(from.columns)}
		if !statement(s).lists() {
			one.pieces = sqltext.Pieces(sql)
		}
		all[s] = one
	}
	return all, nil
}

// complete returns a statement with literals in the place of its parameters. Arguments that the
// statement lacks, and missing arguments, are an error. given are further conditions of a listing.
func (t *text) complete(s statement, a args, given ...string) (string, error) {
	pieces := t.pieces
	if s.lists() {
		given = append(strings.Fields(sources[s].given), given...)
		pieces = sqltext.Pieces(sqltext.Pick(t.sql, given...))
	} else if len(a) != len(t.params) {
		return "", fmt.Errorf("statement %v has the parameters %v, %d are passed", s, t.params, len(a))
	}
	var out []byte
	for _, piece := range pieces {
		out = append(out, piece.Code...)
		if piece.Parameter == "" {
			continue
		}
		value, passed := a[piece.Parameter]
		if !passed {
			return "", fmt.Errorf("statement %v: parameter %s is not passed", s, piece.Parameter)
		}
		var err error
		if out, err = appendLiteral(out, value); err != nil {
			return "", fmt.Errorf("statement %v: parameter %s: %w", s, piece.Parameter, err)
		}
	}
	return string(out), nil
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
