package sqlite

import (
	"embed"
	"fmt"
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
	agedDigestedStreams
	agedStreams
	claimDigestedStreams
	claimJobs
	claimStreams
	claimSuspects
	limitedAgedDigested
	limitedAgedStreams
	limitedDigestedStreams
	limitedJobs
	limitedStreams
	limitedSuspects
	closeChainEnds
	countJobs
	cutOutput
	deleteAttempts
	deleteCancels
	pruneCopies
	deleteEdges
	deleteEndedJobs
	deleteJobs
	deleteKeyHolds
	deleteOutput
	deleteProgress
	endFailing
	endJobs
	endJobsWithResults
	endNodes
	extendLease
	extendSlots
	findClaim
	findDueSchedules
	findDueSchedulesNamed
	findDueStreams
	findKeyHolders
	findKept
	findNextExpiry
	findNextSchedule
	findNotStarted
	findPredecessors
	findRelease
	findSuspect
	findUndigested
	findUniqueJobs
	findWaiting
	holdNode
	insertAttempts
	insertBatch
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
	insertSameJobs
	insertLinkReleases
	insertScheduleReleases
	insertSlots
	listEvents
	listNewestEvents
	listReleases
	lockBatchJob
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
	lockTriggeredSchedules
	lockWaitingJobs
	markPredecessors
	markScheduleJobs
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
	raiseEvents
	raiseLocks
	raiseNodes
	raiseTokens
	readChanges
	readCounter
	readFeed
	replaceJobs
	reportLoss
	requestCancels
	requeueJobs
	reopenEdges
	updateDigests
	updateEdges
	updateNode
	updateFeed
	updateGoneEvents
	updateJobs
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
	findStarts
	useStarts
	allotPermits
	clearPermits
	deleteEndedLimits
	deleteLanes
	findLaneKeys
	findLaneWork
	findWrongLanes
	findIdlePermits
	deleteGonePermits
	findPausedPermits
	insertJobVacancies
	insertLanes
	insertLimitVacancies
	insertVacancies
	lockLaneJobs
	lockIdleLanes
	lockLanes
	lockLaneHolders
	lockNewLaneJobs
	lockNewLaneSuspects
	findOvertakingJobs
	lockPermittedJobs
	lockRunningLaneJobs
	takeVacancies
	findLimitWaits
	listLanes
	listLimits
	readLimits
	findQueueRates
	upsertRateLane
	upsertPermits
	deleteNodePermits
	upsertLimits
	deleteAuditSubjects
	insertAudit
	insertAuditSubjects
	listAudit
	pruneAudit
	updateAudit
	statementCount
)

// sources has the source of each statement.
var sources = sqlrows.WithShared([]sqlrows.Source{
	deleteAuditSubjects:    {File: "delete_audit_subjects", Params: "ids"},
	insertAudit:            {File: "insert_audit", Params: "now actor source action count detail"},
	insertAuditSubjects:    {File: "insert_audit_subjects", Params: "id subjects most"},
	listAudit:              {File: "list_audit", Params: "actor action kind name since before_at before_id limit", Columns: "id at actor source action count detail subjects", Lists: true},
	pruneAudit:             {File: "prune_audit", Params: "before limit", Columns: "id"},
	updateAudit:            {File: "update_audit", Params: "id count"},
	acceptLoss:             {File: "accept_loss"},
	beginFailing:           {File: "begin_failing", Params: "now failing"},
	beginJobs:              {File: "begin_jobs", Params: "claims node"},
	checkRecorded:          {File: "check_recorded", Params: "claims", Columns: "place state"},
	agedDigestedStreams:    {File: "claim_jobs", Given: "digested several by_age", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	agedStreams:            {File: "claim_jobs", Given: "several by_age", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	claimDigestedStreams:   {File: "claim_jobs", Given: "digested several by_priority", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	claimJobs:              {File: "claim_jobs", Given: "one", Params: "node now begin queue kind due_by limit", Columns: sqlrows.ClaimedColumns},
	claimStreams:           {File: "claim_jobs", Given: "several by_priority", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	claimSuspects:          {File: "claim_suspects", Params: "node now begin queue kinds exact bytes limit", Columns: sqlrows.ClaimedColumns},
	limitedAgedDigested:    {File: "claim_jobs", Given: "digested several by_age limited_digested limited_several", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	limitedAgedStreams:     {File: "claim_jobs", Given: "several by_age limited_several", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	limitedDigestedStreams: {File: "claim_jobs", Given: "digested several by_priority limited_digested limited_several", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	limitedJobs:            {File: "claim_jobs", Given: "one limited_one", Params: "node now begin queue kind due_by limit", Columns: sqlrows.ClaimedColumns},
	limitedStreams:         {File: "claim_jobs", Given: "several by_priority limited_several", Params: "streams queue due_by now limit node begin", Columns: sqlrows.ClaimedColumns},
	limitedSuspects:        {File: "claim_suspects", Given: "limited", Params: "node now begin queue kinds exact bytes limit", Columns: sqlrows.ClaimedColumns},
	countJobs:              {File: "list_jobs", Given: "numbers count", Params: sqlrows.JobFilterParams + sqlrows.JobRangeParams, Columns: "count", Lists: true},
	cutOutput:              {File: "cut_output", Params: "windows"},
	deleteAttempts:         {File: "delete_attempts", Params: "ids"},
	deleteCancels:          {File: "delete_cancels", Params: "ids"},
	deleteEndedJobs:        {File: "delete_ended_jobs", Params: "ends"},
	deleteJobs:             {File: "delete_jobs", Params: "ids"},
	deleteKeyHolds:         {File: "delete_key_holds", Params: "ids"},
	deleteOutput:           {File: "delete_output", Params: "ids"},
	deleteProgress:         {File: "delete_progress", Params: "ids"},
	endFailing:             {File: "end_failing", Params: "ids"},
	endJobs:                {File: "end_jobs", Params: "now ends"},
	endJobsWithResults:     {File: "end_jobs", Given: "results kept", Params: "now ends"},
	endNodes:               {File: "end_nodes", Params: "now died nodes"},
	extendLease:            {File: "extend_lease", Params: "now node", Columns: "beats"},
	extendSlots:            {File: "extend_slots", Params: "now slots"},
	findStarts:             {File: "find_starts", Params: "ids", Columns: "job_id lane"},
	useStarts:              {File: "use_starts", Params: "ids"},
	allotPermits:           {File: "allot_permits", Params: "now jobs"},
	clearPermits:           {File: "clear_permits", Params: "ids"},
	deleteEndedLimits:      {File: "delete_ended_limits"},
	deleteLanes:            {File: "delete_lanes", Params: "ids"},
	findLaneKeys:           {File: "find_lane_keys", Params: "lanes", Columns: "limit_id key id"},
	findWrongLanes:         {File: "find_wrong_lanes", Params: "lanes limit", Columns: "id held starts"},
	findIdlePermits:        {File: "find_idle_permits", Params: "limit", Columns: "id"},
	deleteGonePermits:      {File: "delete_gone_permits"},
	findLaneWork:           {File: "find_lane_work", Params: "now queue", Columns: "limited rated found next"},
	findPausedPermits:      {File: "find_paused_permits", Params: "subject name", Columns: "id"},
	insertJobVacancies:     {File: "insert_job_vacancies", Params: "ids strict"},
	insertLanes:            {File: "insert_lanes", Params: "lanes"},
	insertLimitVacancies:   {File: "insert_limit_vacancies", Params: "now"},
	insertVacancies:        {File: "insert_vacancies", Params: "vacancies"},
	lockLaneJobs:           {File: "lock_lane_jobs", Params: "lanes limit now", Columns: laneJobColumns},
	lockLaneHolders:        {File: "lock_lane_holders", Params: "lanes limit", Columns: "id permits"},
	lockIdleLanes:          {File: "lock_idle_lanes", Params: "limit", Columns: "id"},
	lockLanes:              {File: "lock_lanes", Params: "ids", Columns: "id limit_id key used starts waiting tat not_before look_at"},
	lockNewLaneJobs:        {File: "lock_new_lane_jobs", Params: "streams queue now scan limit", Columns: laneJobColumns},
	lockNewLaneSuspects:    {File: "lock_new_lane_suspects", Params: "queue now kinds exact bytes limit", Columns: laneJobColumns},
	findOvertakingJobs:     {File: "find_overtaking_jobs", Params: "streams queue now limit", Columns: laneJobColumns},
	lockPermittedJobs:      {File: "lock_permitted_jobs", Params: "queue kind by_key after_id limit", Columns: "id permits"},
	lockRunningLaneJobs:    {File: "lock_running_lane_jobs", Params: "queue kind by_key", Columns: laneJobColumns},
	takeVacancies:          {File: "take_vacancies", Params: "limit", Columns: "limit_id done_to lanes"},
	findLimitWaits:         {File: "find_limit_waits", Params: "most ids", Columns: "job_id limit_id key in_use starts tat not_before before"},
	endLimits:              {File: "end_limits", Params: "now ids"},
	listLanes:              {File: "list_lanes", Params: "limit lanes candidates most now", Columns: "key used waiting starts tat not_before"},
	listLimits:             {File: "list_limits", Params: "names now most", Columns: sqlrows.LimitColumns + " in_use waiting keys", Lists: true},
	findQueueRates:         {File: "find_queue_rates", Params: "queue", Columns: "id revision rate per burst tat not_before"},
	upsertRateLane:         {File: "upsert_rate_lane", Params: "limit tat"},
	upsertPermits:          {File: "upsert_permits", Params: "permits"},
	deleteNodePermits:      {File: "delete_node_permits", Params: "nodes"},
	readLimits:             {File: "read_limits", Columns: sqlrows.LimitColumns},
	upsertLimits:           {File: "upsert_limits", Params: "limits now"},
	findClaim:              {File: "find_claim", Params: "id token", Columns: "state"},
	findDueSchedules:       {File: "find_due_schedules", Params: "soon after_at after_id limit", Columns: sqlrows.ScheduleColumns},
	findDueSchedulesNamed:  {File: "find_due_schedules_named", Params: "names now limit", Columns: sqlrows.ScheduleColumns},
	findDueStreams:         {File: "find_due_streams", Params: "streams queue due_by", Columns: "stream"},
	findKept:               {File: "find_kept", Params: "ids now", Columns: "id until unlinked"},
	findKeyHolders:         {File: "find_key_holders", Params: "ids now", Columns: "kind unique_key id"},
	findNextExpiry:         {File: "find_next_expiry", Params: "node", Columns: "next_expiry"},
	findNextSchedule:       {File: "find_next_schedule", Params: "soon", Columns: "next_at"},
	findSuspect:            {File: "find_suspect", Params: "queue now", Columns: "found"},
	findUndigested:         {File: "find_undigested", Params: "kinds queue now limit", Columns: "id args"},
	findUniqueJobs:         {File: "find_unique_jobs", Params: "keys now", Columns: "place id live begun running in_batch holds queue priority run_at created_at"},
	holdNode:               {File: "hold_node", Params: "node", Columns: "alive pauses handled limited permits"},
	insertAttempts:         {File: "insert_attempts", Params: "now bytes attempts"},
	insertBatch:            {File: "insert_batch", Params: "now on any", Columns: "id"},
	insertEvents:           {File: "insert_events", Params: "now events"},
	listEvents:             {File: "list_events", Given: "oldest", Params: "from_id limit", Columns: "id at type subjects names slots counts reasons"},
	listNewestEvents:       {File: "list_events", Given: "newest", Params: "from_id limit", Columns: "id at type subjects names slots counts reasons"},
	pruneEvents:            {File: "prune_events", Params: "now limit", Columns: "id"},
	readFeed:               {File: "read_feed", Columns: "keep gone_id"},
	updateFeed:             {File: "update_feed", Params: "keep"},
	updateGoneEvents:       {File: "update_gone_events", Params: "id"},
	insertJob:              {File: "insert_job", Params: sqlrows.JobParams + " args"},
	insertJobs:             {File: "insert_jobs", Params: "bytes now jobs"},
	insertLinkedJobs:       {File: "insert_jobs", Given: "linked", Params: "bytes now jobs"},
	insertNode:             {File: "insert_node", Params: "name version host labels queues kinds zones lease now", Columns: "id"},
	insertNodeSequence:     {File: "insert_node_sequence"},
	insertSameJobs:         {File: "insert_same_jobs", Params: sqlrows.JobParams + " bytes places"},
	insertSlots:            {File: "insert_slots", Params: "now slots"},
	lockBatchJob:           {File: "lock_batch_job", Params: "batch", Columns: "id"},
	lockCalendars:          {File: "lock_calendars", Params: "names", Columns: sqlrows.CalendarColumns},
	lockClaims:             {File: "lock_claims", Params: "claims", Columns: "place state reason schedule_id origin handled"},
	lockDueSchedules:       {File: "lock_due_schedules", Params: "ids until", Columns: "id revision mark next_at paused_at releases"},
	lockFailing:            {File: "lock_failing", Params: "ids", Columns: "schedule_id failures"},
	lockFile:               {File: "lock_file"},
	lockHeldJobs:           {File: "lock_held_jobs", Params: "nodes", Columns: sqlrows.HeldColumns},
	lockJobs:               {File: "lock_jobs", Params: "ids", Columns: sqlrows.TargetColumns},
	lockLiveNodes:          {File: "lock_live_nodes", Columns: sqlrows.NodeColumns},
	lockLiveJobs:           {File: "lock_live_jobs", Params: "now ids", Columns: sqlrows.LiveColumns},
	lockTriggeredSchedules: {File: "lock_triggered_schedules", Params: "ids", Columns: "id mark"},
	lockWaitingJobs:        {File: "lock_waiting_jobs", Params: "groups", Columns: "place id busy"},
	pruneAttempts:          {File: "prune_attempts", Params: "ids most"},
	pruneBatches:           {File: "prune_batches", Params: "before limit"},
	pruneCompletedJobs:     {File: "prune_jobs", Given: "completed", Params: "before now limit", Columns: "id"},
	pruneFailedJobs:        {File: "prune_jobs", Given: "failed", Params: "before now limit", Columns: "id"},
	pruneKeptJobs:          {File: "prune_jobs", Given: "kept", Params: "before now limit", Columns: "id"},
	pruneKeyHolds:          {File: "prune_key_holds", Params: "now limit"},
	pruneNodes:             {File: "prune_nodes", Params: "before limit"},
	pruneSlots:             {File: "prune_slots", Params: "before limit"},
	raiseEvents:            {File: "raise_events"},
	raiseLocks:             {File: "raise_locks", Params: "margin"},
	raiseNodes:             {File: "raise_nodes", Params: "margin"},
	raiseTokens:            {File: "raise_tokens", Params: "margin"},
	readChanges:            {File: "read_changes", Columns: "changes"},
	readCounter:            {File: "read_counter", Params: "name", Columns: "value"},
	replaceJobs:            {File: "replace_jobs", Params: "bytes jobs"},
	reportLoss:             {File: "report_loss", Params: "now token node seen_accepted accepted"},
	requestCancels:         {File: "request_cancels", Params: "now reason ids"},
	requeueJobs:            {File: "requeue_jobs", Params: "now jobs"},
	updateDigests:          {File: "update_digests", Params: "digests"},
	updateJobs:             {File: "update_jobs", Params: "jobs"},
	upsertCalendars:        {File: "upsert_calendars", Params: "revision bytes now calendars"},
	pruneCopies:            {File: "prune_copies", Params: "before limit"},
	upsertKeyHolds:         {File: "upsert_key_holds", Params: "holds"},
	upsertOutput:           {File: "upsert_output", Params: "rows bytes"},
	upsertProgress:         {File: "upsert_progress", Params: "claims now"},
	upsertSchedules:        {File: "upsert_schedules", Params: "bytes schedules"},
	findPredecessors:       {File: "find_predecessors", Params: "ids", Columns: "id state ended_at reason"},
	insertReleases:         {File: "insert_releases", Params: "now ends"},
	insertDeletedReleases:  {File: "insert_deleted_releases", Params: "now ids"},
	insertEdges:            {File: "insert_edges", Params: "edges"},
	listReleases:           {File: "list_releases", Params: "after_id limit", Columns: "id on_id done_to schedule_id ended_at state reason"},
	findNotStarted:         {File: "find_not_started", Params: "ids", Columns: "id kind unique_key"},
	reopenEdges:            {File: "reopen_edges", Params: "edges"},
	findWaiting:            {File: "find_waiting", Params: "ids", Columns: "id waits run_at"},
	updateEdges:            {File: "update_edges", Params: "edges"},
	updateNode:             {File: "update_node", Params: "node version host labels queues kinds zones lease now", Columns: "id"},
	deleteEdges:            {File: "delete_edges", Params: "ids"},
	findRelease:            {File: "find_release", Columns: "found"},
	deletePauses:           {File: "delete_pauses", Params: "now"},
	findPauseWork:          {File: "find_pause_work", Params: "now", Columns: "found"},
	findPauses:             {File: "find_pauses", Params: "queue now", Columns: "queue kinds"},
	lockPauses:             {File: "lock_pauses", Params: "subject names", Columns: sqlrows.PauseColumns},
	parkJobs:               {File: "park_jobs", Params: "now limit"},
	unparkJobs:             {File: "unpark_jobs", Params: "now limit"},
	markPredecessors:       {File: "mark_predecessors", Params: "names"},
	markScheduleJobs:       {File: "mark_schedule_jobs", Params: "names"},
	lockFollowers:          {File: "lock_followers", Params: "ids", Columns: "id mark next_at last predecessor_id predecessor paused_at paused_until group_paused_at group_paused_until"},
	insertChainEnds:        {File: "insert_chain_ends", Params: "ends"},
	closeChainEnds:         {File: "close_chain_ends", Params: "ids"},
	awaitChainEnds:         {File: "await_chain_ends", Params: "ids"},
	insertLinkReleases:     {File: "insert_link_releases", Params: "ids now"},
	insertScheduleReleases: {File: "insert_schedule_releases", Params: "notes"},
	pruneChainEnds:         {File: "prune_chain_ends", Params: "before limit"},
})

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

// readTexts reads the text of each statement.
func readTexts() ([]sqlrows.Text, error) {
	return sources.Read(sqlFiles, sqltext.Rules{Words: store.OriginWords(), Macros: macros, Lists: sqlrows.Lists()}, nil)
}

// valuesOf returns the arguments of a statement. Arguments that the statement
// lacks, and missing arguments, are an error.
func valuesOf(name statement, t *sqlrows.Text, a args) ([]any, error) {
	list := make([]any, 0, len(a))
	for _, parameterName := range t.Params {
		value, passed := a[parameterName]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", sources[name], parameterName)
		}
		list = append(list, parameter(parameterName, value))
	}
	if len(list) != len(a) {
		return nil, fmt.Errorf("statement %v has the parameters %v only", sources[name], t.Params)
	}
	return list, nil
}
