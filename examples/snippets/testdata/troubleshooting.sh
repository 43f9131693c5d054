hourbell schedules put nightly --cron '30 2 * * *' -- true
hourbell schedules trigger nightly
