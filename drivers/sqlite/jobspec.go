package sqlite

import (
	"database/sql"
	"strconv"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// appendJob appends a job as an object of JSON, on its way to insert_jobs.sql. Its args
// and headers go to pack.
func appendJob(text []byte, job *store.NewJob, pack *sqlrows.Packer) []byte {
	text = append(text, '{')
	text = appendValue(text, "run_at", sqlrows.Micros(job.RunAt))
	text = appendValue(text, "delay", job.Delay.Microseconds())
	text = appendValue(text, "slot", sqlrows.Micros(job.Slot))
	text = appendValue(text, "schedule", sqlrows.OrNull(job.Schedule))
	text = appendValue(text, "origin", int16(job.Origin))
	text = appendValue(text, "state", int16(sqlrows.StateOf(job)))
	text = appendValue(text, "waits", sqlrows.OrNull(int64(job.OpenEdges)))
	if job.Releases {
		text = appendValue(text, "releases", int64(1))
	}
	return append(appendSpec(text, &job.JobSpec, pack), '}')
}

// appendSpec appends the fields of a job's spec to an object of JSON. Its args and headers
// go to pack.
func appendSpec(text []byte, spec *store.JobSpec, pack *sqlrows.Packer) []byte {
	at, length := pack.Add(spec.Args)
	text = appendValue(text, "args_at", int64(at))
	text = appendValue(text, "args_len", int64(length))
	if spec.Headers != nil {
		at, length := pack.Add(spec.Headers)
		text = appendValue(text, "headers_at", int64(at))
		text = appendValue(text, "headers_len", int64(length))
	}
	for _, c := range sqlrows.SpecColumns {
		text = appendValue(text, c.Name, c.Value(spec))
	}
	return text[:len(text)-1]
}

// appendValue appends a name and its value to an object of JSON; a null is left out.
func appendValue(text []byte, name string, value any) []byte {
	var number int64
	switch v := value.(type) {
	case int64:
		number = v
	case int16:
		number = int64(v)
	case *int64:
		if v == nil {
			return text
		}
		number = *v
	case sql.NullString:
		if !v.Valid {
			return text
		}
		return append(append(appendName(text, name), sqlrows.JSON(v.String)...), ',')
	default:
		return append(append(appendName(text, name), sqlrows.JSON(v)...), ',')
	}
	return append(strconv.AppendInt(appendName(text, name), number, 10), ',')
}

func appendName(text []byte, name string) []byte {
	return append(append(append(text, '"'), name...), '"', ':')
}
