module github.com/hourbell/hourbell/internal/files

go 1.26.0

require (
	github.com/goccy/go-yaml v1.19.2
	github.com/hourbell/hourbell v0.0.0
)

replace github.com/hourbell/hourbell => ../..
