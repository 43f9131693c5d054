import PgBoss from "pg-boss";
import { main } from "./child.mjs";

const batch = 10_000;

await main(async (request) => {
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

    // One job by send, more by insert.
    async insert(jobs) {
      sender ??= open();
      const boss = await sender;
      if (jobs.length === 1) await boss.send("noop", jobs[0]);
      else await boss.insert(jobs.map((data) => ({ name: "noop", data })));
    },

    // Large batches, two workers, the shortest interval that it allows; a worker that got a full batch is told to look
    // again at once. It does not order by priority, which makes the fetch cheaper. That was the best of a dozen trials on
    // two cores.
    async work(run) {
      const boss = await open();
      for (let i = 0; i < 2; i++) {
        let id;
        id = await boss.work("noop", { batchSize: batch, pollingIntervalSeconds: 0.5, priority: false }, async (jobs) => {
          for (const job of jobs) run(job.data);
          if (jobs.length === batch) boss.notifyWorker(id);
        });
      }
      return () => boss.stop({ graceful: false });
    },
  };
});
