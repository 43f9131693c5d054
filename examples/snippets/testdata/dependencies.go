package page

import "github.com/hourbell/hourbell"

var exportID int64

var job *hourbell.Job[Page]

var requests []hourbell.Request

type Export struct{}

func (Export) Kind() string { return "export" }

type Publish struct{}

func (Publish) Kind() string { return "publish" }

type Clean struct{}

func (Clean) Kind() string { return "clean" }

type Report struct{}

func (Report) Kind() string { return "report" }

type Page struct{}

func (Page) Kind() string { return "page" }
