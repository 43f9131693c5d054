// pg-boss 12, for the limits by key that it calls group concurrency. It needs a newer Node.js than the other programs.
import { PgBoss } from "pg-boss-12";
import { main } from "./child.mjs";

// The limits that pg-boss has: by key, in the cluster. Package child of the Go side has the same names.
const limits = {
  "": { keys: 0, atATime: 0 },
  "keys of one": { keys: 10_000, atATime: 1 },
  windows: { keys: 10, atATime: 1000 },
  "one key": { keys: 1, atATime: 100 },
};

await main(async (request) => {
  const limit = limits[request.Limit ?? ""];
  if (!limit) throw new Error(`pg-boss has no limit of this kind: ${request.Limit}`);
  const open = async () => {
    const boss = new PgBoss({ connectionString: request.URL, max: request.Connections || 10 });
    boss.on("error", console.error);
    await boss.start();
    return boss;
  };
  let sender;
  return {
    async setup() {
      const boss = await open();
      await boss.createQueue("noop");
      await boss.stop({ graceful: false });
    },

    async insert(jobs) {
      sender ??= open();
      const boss = await sender;
      await boss.insert(
        "noop",
        jobs.map((data) => (limit.keys ? { data, group: { id: String(data.number % limit.keys) } } : { data })),
      );
    },

    // A batch has as many jobs as may run at a time, so that a full batch, after which a worker looks again at once, is
    // the normal case.
    async work(run) {
      const boss = await open();
      const options = { batchSize: limit.keys * limit.atATime || 10_000, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
      if (limit.keys) options.groupConcurrency = limit.atATime;
      else options.localConcurrency = 2;
      await boss.work("noop", options, async (jobs) => {
        for (const job of jobs) run(job.data);
      });
      return () => boss.stop({ graceful: false });
    },
  };
});
