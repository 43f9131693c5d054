package store

import (
	"reflect"
	"testing"
	"time"
)

// TestSameButArgsComparesEveryField sets each field of a job, one by one. A field
// that is added to JobSpec or NewJob and forgotten in SameButArgs fails here.
func TestSameButArgsComparesEveryField(t *testing.T) {
	var plain NewJob
	for _, field := range fieldsOf(reflect.TypeFor[NewJob]()) {
		var job NewJob
		v := reflect.ValueOf(&job).Elem().FieldByIndex(field.Index)
		set(t, v)
		if got, want := SameButArgs([]NewJob{job, plain}), field.Name == "Args"; got != want || SameButArgs([]NewJob{plain, job}) != want {
			t.Errorf("jobs that differ in %s: SameButArgs is %v, want %v", field.Name, got, want)
		}
		if !SameButArgs([]NewJob{job, job}) {
			t.Errorf("a job with %s differs from itself", field.Name)
		}
	}
}

func TestOriginWords(t *testing.T) {
	want := map[string]string{"backfill": "IN (3, 6)", "sets_off": "IN (0, 1, 2, 4, 5, 6)"}
	if got := OriginWords(); !reflect.DeepEqual(got, want) {
		t.Errorf("the rules of origins as SQL are %v, want %v", got, want)
	}
}

// TestCloneSharesNothing changes the memory behind each field of a clone.
func TestCloneSharesNothing(t *testing.T) {
	for _, field := range fieldsOf(reflect.TypeFor[JobSpec]()) {
		var spec JobSpec
		set(t, reflect.ValueOf(&spec).Elem().FieldByIndex(field.Index))
		clone := spec.Clone()
		if !reflect.DeepEqual(clone, spec) {
			t.Errorf("%s: the clone is %+v, want %+v", field.Name, clone, spec)
		}
		v := reflect.ValueOf(&clone).Elem().FieldByIndex(field.Index)
		if v.Kind() != reflect.Slice {
			continue
		}
		v.Index(0).Set(reflect.Zero(v.Type().Elem()))
		if reflect.DeepEqual(clone, spec) {
			t.Errorf("%s: the clone shares memory with its original", field.Name)
		}
	}
}

// fieldsOf returns the fields of a struct and of the structs embedded in it.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	for _, field := range reflect.VisibleFields(t) {
		if !field.Anonymous {
			fields = append(fields, field)
		}
	}
	return fields
}

// set gives a value a value that is not its zero value.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Type() == reflect.TypeFor[Edge]():
		v.Set(reflect.ValueOf(Edge{Job: 1}))
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(t, v.Index(0))
	default:
		t.Fatalf("this test does not know how to set a %s", v.Type())
	}
}
