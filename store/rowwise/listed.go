package rowwise

import "github.com/hourbell/hourbell/store"

// ByID returns the numbers of listed jobs, in the order of the list, and the jobs by their numbers, so that a driver can add
// to the jobs what it reads from other tables.
func ByID(jobs []store.JobInfo) (ids []int64, byID map[int64]*store.JobInfo) {
	ids, byID = make([]int64, len(jobs)), make(map[int64]*store.JobInfo, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
		byID[ids[i]] = &jobs[i]
	}
	return ids, byID
}
