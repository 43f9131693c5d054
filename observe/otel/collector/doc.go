// Package collector has a test of package otel with a real OpenTelemetry Collector, which is built from
// its Go modules. They take about a minute to compile, so the test is run by make see only:
//
//	cd observe/otel/collector && go test -tags see .
package collector
