module github.com/hourbell/hourbell/adapters

go 1.26.0

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/google/uuid v1.6.0
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/hourbelltest v0.0.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/robfig/cron/v3 v3.0.1
)

replace (
	github.com/hourbell/hourbell => ..
	github.com/hourbell/hourbell/hourbelltest => ../hourbelltest
)
