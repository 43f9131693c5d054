module github.com/hourbell/hourbell/bench

go 1.26.0

// What npm installs may hold Go files of others.
ignore ./node

require (
	github.com/adhocore/gronx v1.20.4
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/hashicorp/cronexpr v1.1.3
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/drivers/mysql v0.0.0
	github.com/hourbell/hourbell/drivers/postgres v0.0.0
	github.com/hourbell/hourbell/drivers/sqlite v0.0.0
	github.com/hourbell/hourbell/hourbelltest v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/mikestefanello/backlite v0.6.0
	github.com/riverqueue/river v0.51.1
	github.com/riverqueue/river/riverdriver v0.51.1
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.1
	github.com/riverqueue/river/rivertype v0.51.1
	github.com/robfig/cron/v3 v3.0.1
	github.com/vgarvardt/gue/v5 v5.7.0
	maragu.dev/goqite v0.4.0
	modernc.org/sqlite v1.60.1
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-sql-driver/mysql v1.10.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/oklog/ulid/v2 v2.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/vgarvardt/backoff v1.0.0 // indirect
	go.opentelemetry.io/otel v1.28.0 // indirect
	go.opentelemetry.io/otel/metric v1.28.0 // indirect
	go.opentelemetry.io/otel/trace v1.28.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace (
	github.com/hourbell/hourbell => ..
	github.com/hourbell/hourbell/drivers/mysql => ../drivers/mysql
	github.com/hourbell/hourbell/drivers/postgres => ../drivers/postgres
	github.com/hourbell/hourbell/drivers/sqlite => ../drivers/sqlite
	github.com/hourbell/hourbell/hourbelltest => ../hourbelltest
)
