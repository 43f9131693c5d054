echo 'schedules: []' >schedules.yaml
