import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { main } from "./child.mjs";

const logger = new Logger(() => () => {});

await main(async (request) => ({
  async setup() {
    const utils = await makeWorkerUtils({ connectionString: request.URL, logger });
    await utils.migrate();
    await utils.release();
  },

  // One job by addJob, more by addJobs. The pool has a connection for each client.
  async insert(jobs) {
    this.utils ??= makeWorkerUtils({ connectionString: request.URL, logger, maxPoolSize: request.Connections || 10 });
    const utils = await this.utils;
    if (jobs.length === 1) await utils.addJob("noop", jobs[0]);
    else await utils.addJobs(jobs.map((payload) => ({ identifier: "noop", payload })));
  },

  // The settings are those of graphile-worker's own page on performance; they were the best in trials, too.
  async work(run_) {
    const runner = await run({
      taskList: { noop: (payload) => run_(payload) },
      noHandleSignals: true,
      preset: {
        worker: {
          connectionString: request.URL,
          logger,
          concurrentJobs: 24,
          maxPoolSize: 25,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });
    return () => runner.stop();
  },
}));
