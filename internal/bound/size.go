package bound

import (
	"reflect"
	"sync"

	"github.com/hourbell/hourbell/store"
)

// fields are where the requests of a type say how large they are, by the numbers of reflect.
type fields struct {
	tx    []int   // the caller's transaction; nil: there is none
	limit []int   // how many rows are asked for; nil: there is no such field
	lists [][]int // jobs, schedules, names …
}

// known has the fields of each type of request that was seen.
var known sync.Map // reflect.Type → *fields

// fieldsOf finds the fields of a type.
func fieldsOf(request reflect.Type) *fields {
	if f, ok := known.Load(request); ok {
		return f.(*fields)
	}
	f := &fields{}
	for _, field := range reflect.VisibleFields(request) {
		switch {
		case field.Type == reflect.TypeFor[store.Tx]():
			f.tx = field.Index
		case field.Name == "Limit" && field.Type.Kind() == reflect.Int:
			f.limit = field.Index
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() != reflect.Uint8:
			f.lists = append(f.lists, field.Index)
		}
	}
	known.Store(request, f)
	return f
}

// sizeOf returns how many jobs, schedules or rows a request is about, and whether it is made in a transaction of the
// caller's.
func sizeOf(request any) (items int, inTx bool) {
	r := reflect.ValueOf(request).Elem()
	f := fieldsOf(r.Type())
	if f.tx != nil && !r.FieldByIndex(f.tx).IsNil() {
		return 0, true
	}
	if f.limit != nil {
		items = int(r.FieldByIndex(f.limit).Int())
	}
	for _, list := range f.lists {
		items += r.FieldByIndex(list).Len()
	}
	return items, false
}
