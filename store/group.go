package store

import "time"

// GroupInfo counts the schedules and the live jobs of a group.
type GroupInfo struct {
	Name      string
	Schedules int64 // without deleted schedules
	Ready     int64 // due now
	Scheduled int64 // due later
	Running   int64
	Waiting   int64
	Estimated bool // the counts are estimates; see Estimator
}

// ListGroupsRequest selects groups.
type ListGroupsRequest struct {
	Now  time.Time // for Ready and Scheduled; zero: the store's clock
	Name string    // only this group; empty: all
}
