// The process in which one system is measured, as package child of the Go side has it: the request is the last argument,
// events go to standard output, one JSON object a line; it ends, and a node stops, when standard input ends.
import { createInterface } from "node:readline";

const request = JSON.parse(process.argv.at(-1));

// micros is the wall clock in microseconds since 1970.
const micros = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const tell = (event) => process.stdout.write(JSON.stringify(event) + "\n");
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// main does what the request says with a system: an object with setup(), insert(jobs) and work(run), which returns stop().
export async function main(open) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const system = await open(request);
  tell({ ready: true });
  if ((await lines.next()).done) process.exit(0);
  if (request.Do === "setup") {
    await system.setup();
    tell({ final: true });
    while (!(await lines.next()).done);
  } else if (request.Do === "insert") {
    const started = performance.now();
    await insert(system);
    tell({ final: true, ended: request.Jobs, seconds: (performance.now() - started) / 1000 });
    while (!(await lines.next()).done); // stay until the benchmark has looked at the process
  } else {
    await work(system, lines);
  }
  process.exit(0);
}

async function insert(system) {
  const { Jobs, Batch, Clients, Rate } = request;
  const start = performance.now();
  let next = 0;
  const client = async () => {
    for (;;) {
      const from = next;
      next += Batch;
      if (from >= Jobs) return;
      if (Rate > 0) await sleep(Math.max(0, start + (from * 1000) / Rate - performance.now()));
      const sent = micros();
      const jobs = [];
      for (let i = from; i < Math.min(from + Batch, Jobs); i++) {
        jobs.push({ number: request.First + i, text: "the quick brown fox", sent });
      }
      await system.insert(jobs);
    }
  };
  await Promise.all(Array.from({ length: Clients }, client));
}

async function work(system, lines) {
  let ended = 0;
  const latencies = [];
  const run = (args) => {
    if (request.Rate > 0 && args.number >= request.Warm) latencies.push((micros() - args.sent) / 1000);
    ended++;
  };
  const stop = await system.work(run);
  let told = 0;
  const ticker = setInterval(() => {
    if (ended !== told) tell({ ended: (told = ended) });
  }, 5);
  while (!(await lines.next()).done);
  clearInterval(ticker);
  await Promise.race([stop(), sleep(10_000)]);
  latencies.sort((a, b) => a - b);
  const quantile = (q) => (latencies.length ? latencies[Math.max(0, Math.ceil(q * latencies.length) - 1)] : 0);
  tell({ final: true, ended, p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) });
}
