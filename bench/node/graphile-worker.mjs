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

  // The settings are those of graphile-worker's own page on performance, with fewer jobs at once and a larger local queue:
  // that was the best of a dozen trials on two cores.
  async work(run_) {
    const runner = await run({
      taskList: { noop: (payload) => run_(payload) },
      noHandleSignals: true,
      preset: {
        worker: {
          connectionString: request.URL,
          logger,
          concurrentJobs: 10,
          maxPoolSize: 10,
          localQueue: { size: 2000 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });
    return () => runner.stop();
  },
}));
