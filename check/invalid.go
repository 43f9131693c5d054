package check

import "errors"

// InvalidError is the error for input that is not valid, with each of its mistakes: what a server answers with the status 400 or
// 422, and not 500. Calls of Hourbell return it, wrapped, for all mistakes that they find before they change anything; errors.As
// finds it. Its text is the texts of the mistakes, one a line.
type InvalidError struct {
	// Fields are the mistakes, at least one. Their field names are as in files and in the API. Mistakes in the rule of a schedule
	// are among them.
	Fields []FieldError

	err error
}

// Error returns the mistakes, one a line.
func (e *InvalidError) Error() string { return e.err.Error() }

// Unwrap returns the error that the mistakes were found in, such as a *[FieldError].
func (e *InvalidError) Unwrap() error { return e.err }

// As lets errors.As find a *[InvalidError] with this mistake alone.
func (e *FieldError) As(target any) bool {
	invalid, ok := target.(**InvalidError)
	if ok {
		*invalid = &InvalidError{[]FieldError{*e}, e}
	}
	return ok
}

// Join is errors.Join. If all of the errors are mistakes in the input, the result is a *[InvalidError] with all of them.
func Join(errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	if fields, only := mistakes(err); only {
		return &InvalidError{fields, err}
	}
	return err
}

// mistakes returns the mistakes that an error consists of, and whether it consists of nothing else.
func mistakes(err error) (fields []FieldError, only bool) {
	switch e := err.(type) { //nolint:errorlint // the whole tree of errors is read, and not its first fit
	case *FieldError:
		return []FieldError{*e}, true
	case *InvalidError:
		return e.Fields, true
	case interface {
		Mistake() (field, value, problem, remedy string)
	}: // of package recur, which imports no other package
		var f FieldError
		f.Field, f.Value, f.Problem, f.Remedy = e.Mistake()
		return []FieldError{f}, true
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return mistakes(inner)
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			more, only := mistakes(one)
			if !only {
				return nil, false
			}
			fields = append(fields, more...)
		}
		return fields, len(fields) > 0
	}
	return nil, false
}
