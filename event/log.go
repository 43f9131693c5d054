package event

import (
	"context"
	"log/slog"
)

// LevelTrace is the level of loop steps, below slog.LevelDebug.
const LevelTrace = slog.Level(-8)

// line is how a kind of event is written to the log.
type line struct {
	level   slog.Level
	message string
}

// messages has every message that Hourbell logs. Loop iterations are TRACE;
// claims, lost races, completed and snoozed jobs are DEBUG, because there are as many of
// them as there are jobs; lifecycle is INFO, refusals and losses WARN, errors ERROR.
var messages = map[Kind]line{
	Step:             {LevelTrace, "loop step"},
	JobsClaimed:      {slog.LevelDebug, "jobs claimed"},
	JobStarted:       {slog.LevelDebug, "job started"},
	SlotFired:        {slog.LevelDebug, "slot fired"},
	FiringLost:       {slog.LevelDebug, "slot fired by another node"},
	StoreRetried:     {slog.LevelDebug, "store failed again"},
	Pruned:           {slog.LevelDebug, "finished work pruned"},
	JobCompleted:     {slog.LevelDebug, "job completed"},
	JobSnoozed:       {slog.LevelDebug, "job snoozed"},
	NodeStarted:      {slog.LevelInfo, "node started"},
	NodeStopping:     {slog.LevelInfo, "node stopping"},
	NodeStopped:      {slog.LevelInfo, "node stopped"},
	StoreBack:        {slog.LevelInfo, "store is back"},
	LeaseRegained:    {slog.LevelInfo, "lease regained"},
	ClaimsHeld:       {slog.LevelInfo, "node is at its limit: it claims no jobs"},
	ClaimsFree:       {slog.LevelInfo, "node claims jobs again"},
	PushBack:         {slog.LevelInfo, "wake-ups are pushed"},
	JobCancelled:     {slog.LevelInfo, "job cancelled"},
	JobReleased:      {slog.LevelInfo, "job handed back"},
	JobRescued:       {slog.LevelInfo, "job rescued"},
	JobSuperseded:    {slog.LevelInfo, "job superseded by the next slot"},
	ZonesChanged:     {slog.LevelInfo, "the data of time zones have changed; next slots are computed again"},
	ScheduleMoved:    {slog.LevelInfo, "schedule's next slot moved: by this node's data of its time zone it is another instant than the stored one"},
	SlotSkipped:      {slog.LevelInfo, "slot skipped"},
	SlotNotStarted:   {slog.LevelInfo, "schedule not started"},
	SlotMissed:       {slog.LevelWarn, "slot missed"},
	StopUnwritten:    {slog.LevelWarn, "the store did not take everything at the stop of this node"},
	WorkersRemain:    {slog.LevelWarn, "workers have not returned: this node keeps their jobs until they return or the process ends"},
	JobStuck:         {slog.LevelWarn, "job stuck: its worker has not returned, although its context has ended"},
	JobUnstuck:       {slog.LevelInfo, "the worker of a stuck job has returned"},
	Dropped:          {slog.LevelWarn, "events dropped for a slow observer"},
	PoolSmall:        {slog.LevelWarn, "the pool is small for the workers"},
	PushLost:         {slog.LevelWarn, "wake-ups cannot be pushed; polling"},
	NodeDied:         {slog.LevelWarn, "node declared dead"},
	LeaseLost:        {slog.LevelWarn, "lease lost"},
	ClaimLost:        {slog.LevelWarn, "claim lost: the outcome was refused"},
	JobLost:          {slog.LevelWarn, "job lost"},
	PermitsRepaired:  {slog.LevelWarn, "a limit counted its permits wrong; repaired"},
	QueueUnserved:    {slog.LevelWarn, "job enqueued for a queue that no living node serves"},
	ScheduleDoubtful: {slog.LevelWarn, "schedule's rule is probably a mistake"},
	ScheduleLeft:     {slog.LevelWarn, "schedule is fired by no living node"},
	ScheduleAhead:    {slog.LevelWarn, "schedule is accounted for ahead of the store's clock; see `hourbell schedules reset --all`"},
	StateFailed:      {slog.LevelWarn, "the state file cannot be used: this node will not notice after its next start that the store went back in time"},
	HistoryAccepted:  {slog.LevelInfo, "loss of history accepted; claiming and firing again"},
	HistoryLost: {slog.LevelError, "the store went back in time: a backup was restored, or a failover lost what had been " +
		"committed; this node claims and fires nothing until `hourbell nodes accept-history` confirms that"},
	JobRetried:       {slog.LevelError, "job failed, will retry"},
	JobFailed:        {slog.LevelError, "job failed"},
	StoreFailed:      {slog.LevelError, "store failed"},
	ObserverPanicked: {slog.LevelError, "an observer of events panicked"},
	ScheduleBad:      {slog.LevelError, "schedule cannot be used"},
}

// lines returns the level and the message of events of a kind.
func lines(kind Kind) line {
	if known, ok := messages[kind]; ok {
		return known
	}
	return line{slog.LevelWarn, string(kind)}
}

// releasedLines is how many jobs of each second that are handed back have lines of their own at level INFO. A node that stops
// hands back all that it has claimed in advance, which may be thousands.
const releasedLines = 3

// Log returns a sink that writes each event as one line to logger. Of the jobs
// that complete, the first so many of each second (completed, not negative) have
// their lines at level INFO, and one line counts the further ones of that second;
// their own lines are DEBUG. Of the jobs that are handed back, the first three of each second have such lines.
func Log(logger *slog.Logger, completed int) Sink {
	l := &logSink{logger: logger}
	if completed > 0 {
		l.completed = newRation(completed, l.more("more jobs completed"))
	}
	l.released = newRation(releasedLines, l.more("more jobs handed back"))
	return l.send
}

// logSink writes lines.
type logSink struct {
	logger    *slog.Logger
	completed *ration // nil: completed jobs are DEBUG
	released  *ration
}

func (l *logSink) send(e Event) {
	line := lines(e.Kind)
	switch e.Kind {
	case JobCompleted:
		if l.completed != nil && l.logger.Enabled(context.Background(), slog.LevelInfo) && l.completed.take() {
			line.level = slog.LevelInfo
		}
	case JobReleased:
		if !l.released.take() {
			line.level = slog.LevelDebug
		}
	case NodeStopped: // nothing more comes
		if l.completed != nil {
			l.completed.flush()
		}
		l.released.flush()
	}
	if l.logger.Enabled(context.Background(), line.level) {
		l.logger.LogAttrs(context.Background(), line.level, line.message, attributes(e)...)
	}
}

// more returns a function that writes the line that counts jobs without a line of their own.
func (l *logSink) more(message string) func(count int64) {
	return func(count int64) {
		l.logger.LogAttrs(context.Background(), slog.LevelInfo, message, slog.Int64("count", count), slog.Duration("within", rationTime))
	}
}

// attributes returns the fields that are set, in a fixed order. Texts are bounded.
func attributes(e Event) []slog.Attr {
	attrs := make([]slog.Attr, 0, 12)
	if e.Schedule != "" {
		attrs = append(attrs, slog.String("schedule", e.Schedule))
	}
	if !e.Slot.IsZero() {
		attrs = append(attrs, slog.Time("slot", e.Slot))
	}
	if e.Job != 0 {
		attrs = append(attrs, slog.Int64("job", e.Job))
	}
	if e.JobKind != "" {
		attrs = append(attrs, slog.String("kind", e.JobKind))
	}
	if e.Queue != "" {
		attrs = append(attrs, slog.String("queue", e.Queue))
	}
	if e.Attempt != 0 {
		attrs = append(attrs, slog.Int("attempt", e.Attempt))
	}
	if e.Token != 0 {
		attrs = append(attrs, slog.Int64("token", e.Token))
	}
	if e.Count != 0 {
		attrs = append(attrs, slog.Int64("count", e.Count))
	}
	switch {
	case e.Took == 0:
	case e.Job != 0: // the time of the worker; the store counts from the claim
		attrs = append(attrs, slog.Duration("ran", e.Took))
	default:
		attrs = append(attrs, slog.Duration("took", e.Took))
	}
	if e.Late != 0 {
		attrs = append(attrs, slog.Duration("late", e.Late))
	}
	if e.Delay != 0 {
		attrs = append(attrs, slog.Duration("retry_in", e.Delay))
	}
	if e.Name != "" {
		attrs = append(attrs, slog.String("name", e.Name))
	}
	if e.Detail != "" {
		attrs = append(attrs, slog.String("detail", Text(e.Detail, logText)))
	}
	if e.Output != "" {
		attrs = append(attrs, slog.String("output", Text(e.Output, logText)))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", Text(e.Err.Error(), logText)))
	}
	if e.Trace != "" {
		attrs = append(attrs, slog.String("trace", Text(e.Trace, logTrace)))
	}
	if e.Node != 0 {
		attrs = append(attrs, slog.Int64("node", e.Node))
	}
	return attrs
}
