module github.com/hourbell/hourbell/examples

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/hourbell/hourbell v0.0.0
	github.com/hourbell/hourbell/access v0.0.0
	github.com/hourbell/hourbell/api v0.0.0
	github.com/hourbell/hourbell/drivers/mysql v0.0.0
	github.com/hourbell/hourbell/drivers/postgres v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/prometheus/client_golang v1.25.0
	github.com/uptrace/bun v1.3.0
	github.com/uptrace/bun/dialect/pgdialect v1.3.0
	go.opentelemetry.io/otel/sdk v1.47.0
	go.opentelemetry.io/otel/trace v1.47.0
	gorm.io/driver/mysql v1.6.0
	gorm.io/driver/postgres v1.6.3
	gorm.io/gorm v1.31.2
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/tmthrgd/go-hex v0.0.0-20190904060850-447a3041c3bc // indirect
	github.com/vmihailenco/msgpack/v5 v5.4.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

require (
	github.com/danielgtaylor/huma/v2 v2.37.2 // indirect
	github.com/hourbell/hourbell/dashboard v0.0.0
	github.com/hourbell/hourbell/drivers/sqlite v0.0.0
	github.com/hourbell/hourbell/hourbelltest v0.0.0
	github.com/hourbell/hourbell/observe/otel v0.0.0
	github.com/hourbell/hourbell/observe/prometheus v0.0.0
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	golang.org/x/crypto v0.53.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/hourbell/hourbell => ..
	github.com/hourbell/hourbell/access => ../access
	github.com/hourbell/hourbell/api => ../api
	github.com/hourbell/hourbell/drivers/mysql => ../drivers/mysql
	github.com/hourbell/hourbell/drivers/postgres => ../drivers/postgres
	github.com/hourbell/hourbell/hourbelltest => ../hourbelltest
)

replace github.com/hourbell/hourbell/dashboard => ../dashboard

replace github.com/hourbell/hourbell/drivers/sqlite => ../drivers/sqlite

replace github.com/hourbell/hourbell/observe/otel => ../observe/otel

replace github.com/hourbell/hourbell/observe/prometheus => ../observe/prometheus
