package mysql

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement = sqlrows.Statement

// The statements that only this driver has, or that the drivers have with other parameters or columns.

const (
	acceptLoss = iota + sqlrows.Shared
	awaitChainEnds
	beginFailing
	beginJobs
	checkRecorded
	claimJobs
	claimJobsMixed
	findDuePriorities
	findSuspect
	findWork
	readHeartbeat
	findFirstSchedule
	lockDueJobs
	lockSuspects
	lockLimitedDueJobs
	lockLimitedSuspects
	closeChainEnds
	countJobs
	cutOutput
	deleteAttempts
	deleteCancels
	pruneCopies
	findOldCopies
	deleteEdges
	deleteEndedJobs
	deleteJobs
	deleteRare
	deleteKeyHolds
	deleteOutput
	deleteProgress
	endFailing
	endJobs
	endJobsAlike
	endJobsWithResults
	endNodes
	extendLease
	extendSlots
	findClaim
	findDueSchedules
	findDueSchedulesNamed
	findKeyHolders
	findKept
	findNextExpiry
	findNextSchedule
	findNotStarted
	findPredecessors
	findRelease
	findUniqueJobs
	holdNode
	insertAttempts
	insertBatch
	insertChainEnds
	insertDeletedReleases
	insertEdges
	insertEvents
	insertJobs
	insertRare
	insertMissingRare
	insertNode
	insertReleases
	insertLinkReleases
	insertScheduleReleases
	insertSlots
	listEvents
	listNewestEvents
	lockBatchJob
	lockCalendars
	lockClaims
	lockDueSchedules
	lockFailing
	lockFollowers
	lockHeldJobs
	lockJobs
	lockLiveJobs
	lockLiveNodes
	lockTriggeredSchedules
	lockWaitingJobs
	markPredecessors
	markScheduleJobs
	pruneAttempts
	pruneBatches
	findOldBatches
	pruneChainEnds
	findOldChainEnds
	pruneEvents
	pruneKeyHolds
	findOldKeyHolds
	pruneNodes
	pruneSlots
	findOldSlots
	raiseLocks
	raiseNodes
	raiseTokens
	readIncrement
	readFeed
	replaceJob
	reportLoss
	requestCancels
	requeueJobs
	reopenEdges
	updateEdges
	updateNode
	updateFeed
	updateJobs
	updateRare
	upsertCalendars
	upsertKeyHolds
	upsertOutput
	upsertProgress
	upsertSchedules
	deletePauses
	findPauseWork
	findPauses
	lockPauses
	parkJobs
	unparkJobs
	endLimits
	allotPermits
	clearPermits
	deleteEndedLimits
	deleteLanes
	findLaneKeys
	findLaneWork
	findPausedPermits
	insertLanes
	insertLimitVacancies
	insertVacancies
	lockLaneJobs
	lockIdleLanes
	lockLanes
	lockFreeLanes
	lockNewLaneJobs
	lockPermittedJobs
	lockRunningLaneJobs
	takeVacancies
	findLimitWaits
	listLanes
	listLimits
	readLimits
	findQueueRates
	upsertPermits
	deleteNodePermits
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
	findOvertakingJobs
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
	lockUnnumberedEvents
	lockOldAudit
	findRecount
	listAuditSubjects
	lockAudit
	lockClaimingNodes
	lockClaimingNode
	lockCounter
	lockEndedPauses
	lockFeed
	lockLimitTable
	lockOldJobs
	lockParkedJobs
	lockParkingPauses
	lockParkingPausesAlone
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
	insertHeartbeat
	deleteHeartbeats
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
	lockSerialGroupJobs
	touchJobs
	touchLanes
	touchLimits
	touchPause
	findLaneHolders
	useStarts
	statementCount
)

// sources has the source of each statement.
var sources = sqlrows.WithShared([]sqlrows.Source{
	lockSerialGroupJobs:    {File: "lock_serial_group_jobs", Params: "schedules", Columns: "id"},
	touchLanes:             {File: "touch_lanes", Params: "ids"},
	touchLimits:            {File: "touch_limits", Params: "ids"},
	touchPause:             {File: "touch_pause", Params: "subject name"},
	useStarts:              {File: "use_starts", Params: "jobs"},
	touchJobs:              {File: "touch_jobs", Params: "ids"},
	findLiveJobs:           {File: "lock_live_jobs", Params: "now ids", Columns: sqlrows.LiveColumns},
	lockFreeLiveJobs:       {File: "lock_live_jobs", Given: "free", Params: "now ids", Columns: sqlrows.LiveColumns},
	findDueOnes:            {File: "lock_due_schedules", Params: "ids until", Columns: "id revision mark next_at paused_at releases"},
	lockFreeDueSchedules:   {File: "lock_due_schedules", Given: "free", Params: "ids until", Columns: "id revision mark next_at paused_at releases"},
	lockFreeFollowers:      {File: "lock_followers", Given: "free", Params: "ids", Columns: "id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	lockFreePredecessors:   {File: "lock_predecessors", Given: "free", Params: "ids", Columns: "id"},
	lockClaimingNodes:      {File: "lock_claiming_nodes", Columns: "id"},
	lockClaimingNode:       {File: "lock_claiming_nodes", Given: "one", Params: "node", Columns: "id"},
	lockParkedJobs:         {File: "lock_pausable_jobs", Given: "parked", Params: "ids", Columns: "id"},
	lockUnparkedJobs:       {File: "lock_pausable_jobs", Given: "unparked", Params: "ids", Columns: "id"},
	findParkedOfKey:        {File: "find_parked_jobs", Given: "of_key", Params: "name now limit", Columns: "id"},
	findParkedOfGroup:      {File: "find_parked_jobs", Given: "of_group", Params: "name now limit", Columns: "id"},
	findParkableOfKey:      {File: "find_parkable_jobs", Given: "of_key", Params: "name now limit", Columns: "id"},
	findParkableOfGroup:    {File: "find_parkable_jobs", Given: "of_group", Params: "name now limit", Columns: "id"},
	lockEndedPauses:        {File: "lock_ended_pauses", Params: "now", Columns: "subject name"},
	lockParkingPauses:      {File: "lock_parking_pauses", Given: "shared", Params: "now limit", Columns: "subject name"},
	lockParkingPausesAlone: {File: "lock_parking_pauses", Given: "alone", Params: "now limit", Columns: "subject name"},
	lockPauseTable:         {File: "lock_pause_table"},
	findOldNodes:           {File: "find_old_nodes", Params: "before limit", Columns: "id"},
	pruneJobs:              {File: "prune_jobs", Params: "ids"},
	lockOldJobs:            {File: "lock_old_jobs", Params: "ids", Columns: "id"},
	findOldKeptJobs:        {File: "find_old_jobs", Given: "kept", Params: "before now limit", Columns: "id ended"},
	findOldJobs:            {File: "find_old_jobs", Given: "aged", Params: "state before now limit", Columns: "id ended"},
	lockCounter:            {File: "lock_counter", Params: "name", Columns: "value"},
	lockFeed:               {File: "lock_feed", Columns: "keep"},
	numberEvents:           {File: "number_events", Params: "entries last"},
	findUnnumberedEvents:   {File: "find_unnumbered_events", Params: "limit", Columns: "entry"},
	lockUnnumberedEvents:   {File: "find_unnumbered_events", Given: "lock", Params: "limit", Columns: "entry"},
	findRecount:            {File: "find_recount", Columns: "oldest permits"},
	findOldEvents:          {File: "find_old_events", Params: "now limit", Columns: "id"},
	findScheduleNames:      {File: "find_schedule_names", Params: "ids", Columns: "id name"},
	lockQueueLimits:        {File: "lock_queue_limits", Params: "queue", Columns: sqlrows.LimitColumns},
	lockLimitTable:         {File: "lock_limit_table"},
	updateRateLanes:        {File: "update_rate_lanes", Params: "limit tat"},
	findLaneHolders:        {File: "find_lane_holders", Params: "lanes limit", Columns: "id"},
	lockRateLanes:          {File: "lock_rate_lanes", Params: "limits", Columns: "limit_id tat"},
	countQueueLimit:        {File: "count_limit", Given: "whole", Params: "limit queue now most", Columns: "in_use waiting lanes"},
	countLimit:             {File: "count_limit", Given: "lanes", Params: "limit most", Columns: "in_use waiting lanes"},
	countLaneJobs:          {File: "count_lane_jobs", Params: "lane most", Columns: "lane jobs"},
	countJobsBefore:        {File: "count_jobs_before", Params: "id lane priority state run_at most", Columns: "job_id jobs"},
	findStrictLanes:        {File: "find_strict_lanes", Params: "ids", Columns: "id strict rated"},
	findJobPermits:         {File: "find_job_permits", Params: "ids", Columns: "id permits"},
	findPermittedJobs:      {File: "find_permitted_jobs", Params: "queue kind by_key after_id limit", Columns: "id"},
	findRunningLaneJobs:    {File: "find_running_lane_jobs", Params: "queue kind by_key", Columns: "id"},
	findNewLaneJobs:        {File: "find_new_lane_jobs", Params: "queue now suspects kinds exact_kinds exact limit", Columns: "id"},
	findOvertakingJobs:     {File: "find_new_lane_jobs", Given: "overtaking", Params: "queue now suspects kinds exact_kinds exact limit", Columns: "id"},
	readLaneJobs:           {File: "lock_lane_jobs", Given: "waiting", Params: "ids", Columns: laneJobColumns},
	findLaneJobs:           {File: "find_lane_jobs", Params: "lane limit now", Columns: "id"},
	deleteVacancies:        {File: "delete_vacancies", Params: "ids"},
	findOldAudit:           {File: "find_old_audit", Params: "before limit", Columns: "id"},
	lockOldAudit:           {File: "find_old_audit", Given: "lock", Params: "before limit", Columns: "id"},
	lockAudit:              {File: "lock_audit", Params: "id", Columns: "known"},
	listAuditSubjects:      {File: "list_audit_subjects", Params: "ids", Columns: "entry_id kind name"},
	renewFailing:           {File: "renew_failing", Params: "now failing"},
	insertLeftReleases:     {File: "insert_left_releases", Params: "number on_id schedule done_to ended_at state reason"},
	insertOwner:            {File: "insert_owner", Params: "owner revision"},
	lockOwner:              {File: "lock_owner", Params: "owner", Columns: "name revision digest host synced_at copy_host copy_path copy_digest copy_revision changed_at"},
	lockReleases:           {File: "lock_releases", Params: "after_id limit", Columns: "id number on_id done_to schedule_id ended_at state reason held"},
	lockDependents:         {File: "lock_dependents", Given: "waiting", Params: "ids", Columns: "id waits run_at"},
	lockFreeDependents:     {File: "lock_dependents", Given: "free", Params: "ids", Columns: "id waits run_at"},
	lockNotStarted:         {File: "lock_not_started", Given: "waiting", Params: "ids", Columns: "id"},
	lockFreeNotStarted:     {File: "lock_not_started", Given: "free", Params: "ids", Columns: "id"},
	findBusyDependents:     {File: "find_busy_dependents", Params: "ids", Columns: "id"},
	lockPredecessors:       {File: "lock_predecessors", Given: "waiting", Params: "ids", Columns: "id"},
	findEnds:               {File: "find_ends", Params: "ids", Columns: "id state finished_at reason"},
	lockFinishedJobs:       {File: "lock_finished_jobs", Params: "ids", Columns: sqlrows.TargetColumns},
	lockRetriedSchedules:   {File: "lock_retried_schedules", Params: "ids", Columns: "id"},
	findBusyGroups:         {File: "find_busy_groups", Params: "groups", Columns: "place"},
	findLastEnds:           {File: "find_last_ends", Params: "ids", Columns: "schedule_id last"},
	findTriggeredMarks:     {File: "lock_triggered_schedules", Params: "ids", Columns: "id mark"},
	deleteAuditSubjects:    {File: "delete_audit_subjects", Params: "ids"},
	insertAudit:            {File: "insert_audit", Params: "now actor source action count detail"},
	insertAuditSubjects:    {File: "insert_audit_subjects", Params: "id place kind name"},
	listAudit:              {File: "list_audit", Params: "actor action kind name since before_at before_id limit", Columns: "id at actor source action count detail", Lists: true},
	pruneAudit:             {File: "prune_audit", Params: "ids"},
	updateAudit:            {File: "update_audit", Params: "id count"},
	insertHeartbeat:        {File: "insert_heartbeat", Params: "node now"},
	deleteHeartbeats:       {File: "delete_heartbeats", Params: "nodes"},
	giveNumbers:            {File: "give_numbers", Params: "name count"},
	findUniqueJobs:         {File: "find_unique_jobs", Params: "keys now", Columns: "place id begun running in_batch holds queue priority run_at created_at"},
	lockUniqueJobs:         {File: "find_unique_jobs", Given: "lock", Params: "keys now", Columns: "place id begun running in_batch holds queue priority run_at created_at"},
	lockKeyHolds:           {File: "lock_key_holds", Params: "keys now", Columns: "place job_id"},
	findLiveNodes:          {File: "lock_live_nodes", Columns: sqlrows.NodeColumns},
	findOldAttempts:        {File: "find_old_attempts", Params: "ids skip", Columns: "job_id token"},
	findJobNodes:           {File: "find_job_nodes", Params: "ids", Columns: "id node"},
	findNodeNames:          {File: "find_node_names", Params: "nodes", Columns: "id name"},
	acceptLoss:             {File: "accept_loss"},
	beginFailing:           {File: "begin_failing", Params: "now failing"},
	beginJobs:              {File: "begin_jobs", Params: "claims node"},
	checkRecorded:          {File: "check_recorded", Params: "claims", Columns: "place state"},
	claimJobs:              {File: "claim_jobs", Given: "in_order", Params: "ids before begin node now"},
	claimJobsMixed:         {File: "claim_jobs", Given: "mixed", Params: "ids places before begin node now"},
	findDuePriorities:      {File: "find_due_priorities", Params: "queue now kinds exact_kinds exact", Columns: "priority"},
	findWork:               {File: "find_work", Params: "node queue now kinds exact_kinds exact", Columns: "alive pauses handled limited permits now due suspects next_due"},
	findSuspect:            {File: "find_suspect", Params: "queue now", Columns: "found"},
	lockLimitedDueJobs:     {File: "lock_due_jobs", Given: "limited", Params: "queue now kinds exact_kinds exact priority limit window offset", Columns: sqlrows.ClaimedColumns + " rare"},
	lockLimitedSuspects:    {File: "lock_suspects", Given: "limited", Params: "queue now kinds exact_kinds exact limit window offset", Columns: sqlrows.ClaimedColumns + " rare"},
	lockDueJobs:            {File: "lock_due_jobs", Given: "unlimited", Params: "queue now kinds exact_kinds exact priority limit window offset", Columns: sqlrows.ClaimedColumns + " rare"},
	lockSuspects:           {File: "lock_suspects", Given: "unlimited", Params: "queue now kinds exact_kinds exact limit window offset", Columns: sqlrows.ClaimedColumns + " rare"},
	countJobs:              {File: "list_jobs", Given: "count", Params: sqlrows.JobFilterParams + sqlrows.JobRangeParams, Columns: "count", Lists: true},
	cutOutput:              {File: "cut_output", Params: "windows"},
	deleteAttempts:         {File: "delete_attempts", Params: "ids"},
	deleteCancels:          {File: "delete_cancels", Params: "ids"},
	deleteEndedJobs:        {File: "delete_ended_jobs", Params: "ids"},
	deleteJobs:             {File: "delete_jobs", Params: "ids"},
	deleteKeyHolds:         {File: "delete_key_holds", Params: "ids"},
	deleteOutput:           {File: "delete_output", Params: "ids"},
	deleteProgress:         {File: "delete_progress", Params: "ids"},
	endFailing:             {File: "end_failing", Params: "ids"},
	endJobs:                {File: "end_jobs", Given: "each", Params: "now ends"},
	endJobsAlike:           {File: "end_jobs", Given: "alike", Params: "now ids state"},
	endJobsWithResults:     {File: "end_jobs", Given: "each results kept", Params: "now ends"},
	endNodes:               {File: "end_nodes", Params: "now died nodes"},
	extendLease:            {File: "extend_lease", Params: "now node"},
	extendSlots:            {File: "extend_slots", Params: "now slots"},
	allotPermits:           {File: "allot_permits", Params: "now jobs"},
	clearPermits:           {File: "clear_permits", Params: "ids"},
	deleteEndedLimits:      {File: "delete_ended_limits"},
	deleteLanes:            {File: "delete_lanes", Params: "ids"},
	findLaneKeys:           {File: "find_lane_keys", Params: "lanes", Columns: "limit_id key id"},
	findWrongLanes:         {File: "find_wrong_lanes", Params: "all lanes limit", Columns: "id held starts"},
	findIdleJobs:           {File: "find_idle_jobs", Params: "served limit", Columns: "id"},
	findIdleLanes:          {File: "find_idle_lanes", Params: "served limit", Columns: "id"},
	findIdleHeads:          {File: "find_idle_heads", Params: "lane served", Columns: "id"},
	findGonePermits:        {File: "find_gone_permits", Columns: "limit_id node"},
	deleteGonePermits:      {File: "delete_gone_permits", Params: "permits"},
	findLaneWork:           {File: "find_lane_work", Params: "now queue", Columns: "limited rated found next_look"},
	findPausedPermits:      {File: "find_paused_permits", Params: "subject name", Columns: "id"},
	insertLanes:            {File: "insert_lanes", Params: "limit key"},
	insertLimitVacancies:   {File: "insert_limit_vacancies"},
	insertVacancies:        {File: "insert_vacancies", Params: "limit done_to lanes"},
	lockLaneJobs:           {File: "lock_lane_jobs", Given: "waiting lock", Params: "ids", Columns: laneJobColumns},
	lockIdleLanes:          {File: "lock_idle_lanes", Params: "limit", Columns: "id"},
	lockLanes:              {File: "lock_lanes", Params: "ids", Columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockFreeLanes:          {File: "lock_lanes", Given: "nowait", Params: "ids", Columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockNewLaneJobs:        {File: "lock_lane_jobs", Given: "fresh lock", Params: "ids", Columns: laneJobColumns},
	lockPermittedJobs:      {File: "lock_permitted_jobs", Params: "ids", Columns: "id permits"},
	lockRunningLaneJobs:    {File: "lock_lane_jobs", Given: "running lock", Params: "ids", Columns: laneJobColumns},
	takeVacancies:          {File: "take_vacancies", Params: "limit", Columns: "id limit_id done_to lanes"},
	findLimitWaits:         {File: "find_limit_waits", Params: "ids", Columns: "job_id limit_id key in_use starts tat not_before lane priority state run_at"},
	endLimits:              {File: "end_limits", Params: "now ids"},
	listLanes:              {File: "list_lanes", Params: "limit candidates", Columns: "id key used starts tat not_before"},
	listLimits:             {File: "list_limits", Params: "names", Columns: sqlrows.LimitColumns, Lists: true},
	findQueueRates:         {File: "find_queue_rates", Params: "queue", Columns: "id revision rate per burst tat not_before made"},
	upsertPermits:          {File: "upsert_permits", Params: "limit node permits wants"},
	deleteNodePermits:      {File: "delete_node_permits", Params: "nodes"},
	readLimits:             {File: "read_limits", Columns: sqlrows.LimitColumns},
	upsertLimits:           {File: "upsert_limits", Params: "id name owner revision queue kind by_key concurrency rate per burst weights strict created_at now"},
	findClaim:              {File: "find_claim", Params: "id token", Columns: "state"},
	findDueSchedules:       {File: "find_due_schedules", Params: "soon after_at after_id limit", Columns: sqlrows.ScheduleColumns},
	findDueSchedulesNamed:  {File: "find_due_schedules_named", Params: "names now limit", Columns: sqlrows.ScheduleColumns},
	findKept:               {File: "find_kept", Params: "ids now", Columns: "id until unlinked"},
	findKeyHolders:         {File: "find_key_holders", Params: "ids now", Columns: "kind unique_key id live"},
	findNextExpiry:         {File: "find_next_expiry", Params: "node", Columns: "next_expiry"},
	findFirstSchedule:      {File: "find_first_schedule", Params: "now", Columns: "now next_at"},
	findNextSchedule:       {File: "find_next_schedule", Params: "soon", Columns: "next_at"},
	holdNode:               {File: "hold_node", Given: "hold", Params: "node", Columns: "alive pauses handled limited permits"},
	insertAttempts:         {File: "insert_attempts", Params: "now bytes attempts"},
	insertBatch:            {File: "insert_batch", Params: "now on any"},
	insertEvents:           {File: "insert_events", Params: "now events"},
	listEvents:             {File: "list_events", Given: "oldest", Params: "from_id limit", Columns: "id at type subjects slots counts reasons"},
	listNewestEvents:       {File: "list_events", Given: "newest", Params: "from_id limit", Columns: "id at type subjects slots counts reasons"},
	pruneEvents:            {File: "prune_events", Params: "ids"},
	readFeed:               {File: "read_feed", Columns: "keep gone_id unnumbered"},
	updateFeed:             {File: "update_feed", Params: "keep"},
	insertJobs:             {File: "insert_jobs", Params: "run_at created_at slot schedule origin state waits releases rare args headers {spec}"},
	insertRare:             {File: "insert_rare", Given: "new", Params: "ids"},
	insertMissingRare:      {File: "insert_rare", Given: "plain", Params: "ids"},
	updateRare:             {File: "update_rare", Params: "ids"},
	deleteRare:             {File: "delete_rare", Params: "ids"},
	insertNode:             {File: "insert_node", Params: "node name version host labels queues kinds zones lease now"},
	insertSlots:            {File: "insert_slots", Params: "schedule slot last count outcome reason job now"},
	lockBatchJob:           {File: "lock_batch_job", Params: "batch", Columns: "id"},
	lockCalendars:          {File: "lock_calendars", Params: "names", Columns: sqlrows.CalendarColumns},
	lockClaims:             {File: "lock_claims", Params: "claims", Columns: "place state reason schedule_id origin handled concerns rare"},
	lockDueSchedules:       {File: "lock_due_schedules", Given: "waiting", Params: "ids until", Columns: "id revision mark next_at paused_at releases"},
	lockFailing:            {File: "lock_failing", Params: "ids", Columns: "schedule_id failures"},
	lockHeldJobs:           {File: "lock_held_jobs", Params: "node", Columns: sqlrows.HeldColumns},
	lockJobs:               {File: "lock_jobs", Params: "ids", Columns: sqlrows.TargetColumns},
	lockLiveNodes:          {File: "lock_live_nodes", Given: "lock", Params: "nodes", Columns: sqlrows.NodeColumns},
	lockLiveJobs:           {File: "lock_live_jobs", Given: "waiting", Params: "now ids", Columns: sqlrows.LiveColumns},
	lockTriggeredSchedules: {File: "lock_triggered_schedules", Given: "locking", Params: "ids", Columns: "id mark"},
	lockWaitingJobs:        {File: "lock_waiting_jobs", Params: "groups", Columns: "place id"},
	pruneAttempts:          {File: "prune_attempts", Params: "id token"},
	pruneBatches:           {File: "prune_batches", Given: "prune", Params: "before limit"},
	findOldBatches:         {File: "prune_batches", Given: "look", Params: "before limit", Columns: "id"},
	pruneKeyHolds:          {File: "prune_key_holds", Given: "prune", Params: "now limit"},
	findOldKeyHolds:        {File: "prune_key_holds", Given: "look", Params: "now limit", Columns: "job_id"},
	pruneNodes:             {File: "prune_nodes", Params: "ids"},
	pruneSlots:             {File: "prune_slots", Given: "prune", Params: "before limit"},
	findOldSlots:           {File: "prune_slots", Given: "look", Params: "before limit", Columns: "id"},
	raiseLocks:             {File: "raise_locks", Params: "margin"},
	raiseNodes:             {File: "raise_nodes", Params: "margin"},
	raiseTokens:            {File: "raise_tokens", Params: "margin"},
	readIncrement:          {File: "read_increment", Columns: "step"},
	replaceJob:             {File: "replace_job", Params: "id args headers {spec}"},
	reportLoss:             {File: "report_loss", Params: "now token node seen_accepted accepted"},
	requestCancels:         {File: "request_cancels", Params: "id now reason"},
	requeueJobs:            {File: "requeue_jobs", Params: "now jobs"},
	updateJobs:             {File: "update_jobs", Params: "jobs"},
	upsertCalendars:        {File: "upsert_calendars", Params: "name revision definition now"},
	pruneCopies:            {File: "prune_copies", Given: "prune", Params: "before limit"},
	findOldCopies:          {File: "prune_copies", Given: "look", Params: "before limit", Columns: "owner"},
	upsertKeyHolds:         {File: "upsert_key_holds", Params: "kind unique id until"},
	upsertOutput:           {File: "upsert_output", Params: "id token block data"},
	upsertProgress:         {File: "upsert_progress", Params: "claims now"},
	upsertSchedules:        {File: "upsert_schedules", Params: "name owner revision definition group_name anchor mark next_at fired paused_at paused_until group_paused_at group_paused_until paused_declared created_at updated_at deleted_at"},
	findPredecessors:       {File: "find_predecessors", Params: "ids", Columns: "id"},
	insertReleases:         {File: "insert_releases", Params: "now ends"},
	insertDeletedReleases:  {File: "insert_deleted_releases", Params: "now ids"},
	insertEdges:            {File: "insert_edges", Params: "on_id id delay on state any at_end"},
	findNotStarted:         {File: "find_not_started", Params: "ids", Columns: "id kind unique_key"},
	reopenEdges:            {File: "reopen_edges", Params: "edges"},
	updateEdges:            {File: "update_edges", Params: "edges"},
	updateNode:             {File: "update_node", Params: "node version host labels queues kinds zones lease"},
	deleteEdges:            {File: "delete_edges", Params: "ids"},
	readHeartbeat:          {File: "read_heartbeat", Params: "now node", Columns: "store token node accepted lost_at now releases next_expiry"},
	findRelease:            {File: "find_release", Columns: "found"},
	deletePauses:           {File: "delete_pauses", Params: "subject name"},
	findPauseWork:          {File: "find_pause_work", Params: "now", Columns: "found"},
	findPauses:             {File: "find_pauses", Params: "now", Columns: "subject name"},
	lockPauses:             {File: "lock_pauses", Params: "subject names", Columns: sqlrows.PauseColumns},
	parkJobs:               {File: "park_jobs", Params: "ids"},
	unparkJobs:             {File: "unpark_jobs", Params: "ids"},
	markPredecessors:       {File: "mark_predecessors", Params: "names owners"},
	markScheduleJobs:       {File: "mark_schedule_jobs", Params: "names owners"},
	lockFollowers:          {File: "lock_followers", Given: "waiting", Params: "ids", Columns: "id mark next_at predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	insertChainEnds:        {File: "insert_chain_ends", Params: "schedule slot job ended_at state paused after reason"},
	closeChainEnds:         {File: "close_chain_ends", Params: "ids"},
	awaitChainEnds:         {File: "await_chain_ends", Params: "ids"},
	deleteWakes:            {File: "delete_wakes", Params: "sources"},
	lockClaim:              {File: "lock_claim", Params: "id", Columns: "token"},
	lockOldWakes:           {File: "lock_old_wakes", Params: "age", Columns: "source"},
	raiseWake:              {File: "raise_wake", Params: "source jobs schedules cancels"},
	findColumns:            {File: "find_columns", Columns: "name column_name"},
	findOldTransaction:     {File: "find_old_transaction", Params: "seconds", Columns: "connection seconds"},
	findWrongTables:        {File: "find_wrong_tables", Columns: "name engine"},
	readServer:             {File: "read_server", Columns: "version database_name user_name is_read_only flushes has_log syncs packet clock"},
	findHoldingNodes:       {File: "find_holding_nodes", Params: "nodes", Columns: "node"},
	findLeftNodes:          {File: "find_left_nodes", Params: "now", Columns: "found"},
	lockLeftNodes:          {File: "lock_left_nodes", Params: "now", Columns: sqlrows.NodeColumns},
	updateLeftNodes:        {File: "update_left_nodes", Params: "now wait left nodes"},
	readWakes:              {File: "read_wakes", Columns: "source jobs schedules cancels"},
	insertLinkReleases:     {File: "insert_link_releases", Params: "on_id now"},
	insertScheduleReleases: {File: "insert_schedule_releases", Params: "on_id schedule ended_at state reason"},
	pruneChainEnds:         {File: "prune_chain_ends", Given: "prune", Params: "before limit"},
	findOldChainEnds:       {File: "prune_chain_ends", Given: "look", Params: "before limit", Columns: "job_id"},
})

// text is the text of a statement.
type text struct {
	sqlrows.Text
	pieces []sqltext.Piece // of the text; nil for a listing, whose lines each call picks
	rows   *rowsText       // of a statement that inserts rows
}

// texts holds the text of each statement.
type texts []text

// variant is what the texts of statements depend on.
type variant struct {
	mariaDB bool
	callers bool // they run in a transaction of the program
}

// readTexts are the texts that were read, by variant. The texts are the same for all servers of a kind, so a process reads
// them once.
var (
	readMu    sync.Mutex
	readTexts = map[variant]texts{}
)

// textsFor returns the text of each statement.
func textsFor(v variant) (texts, error) {
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
//   - {rare_columns}: see rareColumns.
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
	lists := sqlrows.Lists()
	lists["rare_columns"] = rareColumns
	return sqltext.Rules{Words: words, Macros: conditions, Lists: lists}
}

// conditions are conditions that several statements have: {in_queue(queue, name)}, for example.
var conditions = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR left($1, char_length($2) + 1) = concat($2, _utf8mb4'@'))`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = _utf8mb4'' OR {in_queue($4.queue, $1)}) AND $2 IN (_utf8mb4'', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// A job that holds its permits, or needs none.
	"permitted": `($1.permits IS NOT NULL OR NOT EXISTS (SELECT 1 FROM hourbell_job_limit AS t
    WHERE t.ended_at IS NULL AND (t.by_key <> 0 OR t.kind <> _utf8mb4'') AND {in_scope(t.queue, t.kind, t.by_key, $1)}))`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
}

// included is {statement(F)}: the statement of the file F, without the lines that have conditions.
var included = map[string]func(string) string{
	"statement": func(file string) string {
		text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
		if err != nil {
			return "{no file " + file + "}" // braces without a rule are an error
		}
		var lines []string
		for line := range strings.Lines(sqltext.Pick(string(text))) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		return strings.TrimSpace(strings.Join(lines, ""))
	},
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

// read reads the text of each statement. Comments are left out.
func (v variant) read() (texts, error) {
	read, err := sources.Read(sqlFiles, v.rules(), func(sql string) string { return sqltext.Expand(sqltext.Expand(sql, included), macros) })
	if err != nil {
		return nil, err
	}
	all := make(texts, len(read))
	for s, one := range read {
		all[s].Text = one
		if !sources[s].Lists {
			all[s].pieces, all[s].rows = sqltext.Pieces(one.SQL), readRows(one.SQL, nil)
		}
	}
	all[insertJobs].rows = readRows(all[insertJobs].SQL, usualJob)
	return all, nil
}

// complete returns a statement with literals in the place of its parameters. Arguments that the
// statement lacks, and missing arguments, are an error. given are further conditions of a listing.
func (t *text) complete(s statement, a args, given ...string) (string, error) {
	pieces := t.pieces
	if sources[s].Lists {
		given = append(strings.Fields(sources[s].Given), given...)
		pieces = sqltext.Pieces(sqltext.Pick(t.SQL, given...))
	} else if len(a) != len(t.Params) {
		return "", fmt.Errorf("statement %v has the parameters %v, %d are passed", sources[s], t.Params, len(a))
	}
	out, err := appendPieces(nil, pieces, s, a)
	return string(out), err
}

// appendPieces appends a part of a statement with literals in the place of its parameters.
func appendPieces(out []byte, pieces []sqltext.Piece, s statement, a args) ([]byte, error) {
	for _, piece := range pieces {
		out = append(out, piece.Code...)
		if piece.Parameter == "" {
			continue
		}
		value, passed := a[piece.Parameter]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", sources[s], piece.Parameter)
		}
		var err error
		if out, err = appendLiteral(out, value); err != nil {
			return nil, fmt.Errorf("statement %v: parameter %s: %w", sources[s], piece.Parameter, err)
		}
	}
	return out, nil
}
