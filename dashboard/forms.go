package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
)

// definition is a sort of things that a form makes, changes and deletes: limits, calendars and handlers. Schedules have a form of their
// own, with a preview.
type definition struct {
	thing string // as in the paths of its pages
	left  string // what a deletion leaves, in words
	note  string // what the form has to say; may be empty

	sections func() []editSection
	read     func(ctx context.Context, name string) (storedForm, error)
	// put stores what a form describes, if the stored definition has the revision; hourbell.OnlyNew: if there is none.
	put    func(ctx context.Context, form url.Values, revision int64) error
	remove func(ctx context.Context, name string) error

	problem func(error) problem // pages.problemOf
}

// definitionsPage is what the page shows that lists the definitions of a sort.
type definitionsPage struct {
	Thing, Note string
	Table       table
}

// storedForm is a stored definition as a form has it.
type storedForm struct {
	form     url.Values
	revision int64
	owner    string // the file that declares it; empty: none
}

// editData returns what the form of a definition says besides its fields.
func (d definition) editData(name string, s storedForm) editData {
	data := editData{Thing: d.thing, Name: name, Revision: s.revision, Left: d.left, Note: d.note, Sections: d.sections()}
	if s.owner != "" {
		data.Fixed = fmt.Sprintf("It belongs to %s, which would undo a change made here. Change it there.", s.owner)
	}
	return data
}

// edit shows the form of a definition.
func (d definition) edit(ctx context.Context, r *http.Request) (*page, error) {
	if err := access.Require(ctx, access.Operator, "change "+d.thing+"s"); err != nil {
		return nil, err
	}
	var s storedForm
	name := r.URL.Query().Get("name")
	if r.URL.Query().Has("name") {
		var err error
		if s, err = d.read(ctx, name); err != nil {
			return nil, err
		}
	}
	data := d.editData(name, s)
	fill(data.Sections, s.form, name != "")
	return editPage(data), nil
}

// change stores or deletes a definition.
func (d definition) change(ctx context.Context, form url.Values) (done, next string, err error) {
	name := form.Get("name")
	switch action := form.Get("action"); action {
	case "put":
		return d.store(ctx, name, form)
	case "delete":
		s, err := d.read(ctx, name)
		if err != nil {
			return "", "", err
		}
		if fixed := d.editData(name, s).Fixed; fixed != "" {
			return "", "", &access.RefusedError{Status: http.StatusConflict, Problem: "the " + d.thing + " was not deleted", Remedy: fixed}
		}
		return fmt.Sprintf("The %s %s is deleted. %s", d.thing, name, d.left), d.thing + "s", d.remove(ctx, name)
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
}

// store stores what a form describes, or shows the form again: with what is wrong, or with what others have changed.
func (d definition) store(ctx context.Context, name string, form url.Values) (done, next string, err error) {
	data, revision := d.editData("", storedForm{}), hourbell.OnlyNew
	if form.Has("revision") {
		s, err := d.read(ctx, name)
		if err != nil {
			return "", "", err
		}
		if revision, err = number("revision", form.Get("revision")); err != nil {
			return "", "", err
		}
		if data = d.editData(name, s); data.Fixed != "" {
			return "", "", &access.RefusedError{Status: http.StatusConflict, Problem: "the " + d.thing + " was not changed", Remedy: data.Fixed}
		}
		if s.revision != revision {
			data.Conflict = differences(s.form, form, data.Sections)
		}
	}
	fill(data.Sections, form, data.Name != "")
	if data.Conflict != nil {
		return "", "", &againError{http.StatusConflict, editPage(data)}
	}
	if err := d.put(ctx, form, revision); err != nil {
		return "", "", data.again(d.problem(err))
	}
	return fmt.Sprintf("The %s %s is stored.", d.thing, name), link(d.thing, "name", name), nil
}

// fill puts the values of a form into its fields.
func fill(sections []editSection, form url.Values, isStored bool) {
	for i := range sections {
		for k := range sections[i].Fields {
			field := &sections[i].Fields[k]
			field.Value, field.Fixed = form.Get(field.Name), field.Name == "name" && isStored
		}
	}
}

// lines returns the lines of a text that are not empty, without space around them.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// pairs returns the lines of a text as KEY=VALUE.
func pairs(field, text string) (map[string]string, error) {
	var all map[string]string
	var errs []error
	for _, line := range lines(text) {
		i := strings.LastIndex(line, "=")
		if i < 1 {
			errs = append(errs, fieldError(field, line, "is not a key and its value", "write a line such as large=5 for each"))
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		all[line[:i]] = line[i+1:]
	}
	return all, errors.Join(errs...)
}

// split returns the parts of a text between commas and spaces.
func split(text string) []string {
	return slices.Collect(strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }))
}
