// Uses the types that openapi-typescript has generated: see scripts/clients.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const client = createClient<paths>({
  baseUrl: process.env.HOURBELL_URL!,
  headers: { Authorization: `Bearer ${process.env.HOURBELL_TOKEN}` },
});

const body = { kind: "client", args: { customer: 42, by: "typescript" }, in: "1h" };
const header = { "Idempotency-Key": "typescript" };
const job = (await client.POST("/api/v1/jobs", { params: { header }, body })).data!;
assert.equal((await client.POST("/api/v1/jobs", { params: { header }, body })).data!.id, job.id);
const wrong = await client.POST("/api/v1/jobs", { body: { kind: " " } });
assert.equal(wrong.response.status, 422);
assert.equal(wrong.error!.errors![0].field, "kind");
const found = (await client.GET("/api/v1/jobs", { params: { query: { state: ["scheduled"], args: ["by=typescript", "customer=42"] } } })).data!;
assert.deepEqual(found.items.map((j) => j.id), [job.id]);
const path = { id: job.id };
const signal = () => client.POST("/api/v1/jobs/{id}/signals/{name}", { params: { path: { ...path, name: "approval" } }, body: { value: { by: "ann" } } });
assert.equal((await signal()).response.status, 204);
assert.equal((await signal()).response.status, 409);
const untaken = await client.POST("/api/v1/jobs/{id}/retry", { params: { path }, body: { from: "charge" } });
assert.equal(untaken.error!.errors![0].field, "from");
assert.equal((await client.GET("/api/v1/jobs/{id}", { params: { path } })).data!.steps![0].name, "approval");
assert.equal((await client.POST("/api/v1/jobs/{id}/cancel", { params: { path } })).data!.change, "changed");
assert.equal((await client.GET("/api/v1/jobs/{id}", { params: { path } })).data!.state, "cancelled");

const named = { name: "clients/typescript" };
const put = (cron: string, header: { "If-Match"?: string; "If-None-Match"?: string }) =>
  client.PUT("/api/v1/schedules/{name}", { params: { path: named, header }, body: { cron, tz: "Europe/Prague", kind: "client", args: {} } });
const made = await put("0 9 * * 1-5", { "If-None-Match": "*" });
assert.ok(made.response.ok);
assert.equal((await put("0 9 * * 1-5", { "If-None-Match": "*" })).response.status, 412);
const etag = made.response.headers.get("ETag")!;
assert.equal((await put("30 9 * * 1-5", { "If-Match": etag })).data!.name, "clients/typescript");
assert.equal((await put("45 9 * * 1-5", { "If-Match": etag })).response.status, 412);
assert.equal((await client.DELETE("/api/v1/schedules/{name}", { params: { path: named } })).response.status, 204);
assert.ok((await client.GET("/api/v1/stats", { params: { query: { since: "1d", by: "queue" } } })).data!.span_seconds);
console.log("typescript: done");
