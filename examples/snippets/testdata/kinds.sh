echo 'schedules: []' >schedules.yaml
export REPORTS_URL=sqlite:reports.db
