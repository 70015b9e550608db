// Send a document through the API with a client of openapi-typescript and openapi-fetch: log in,
// upload, label, submit, accept, export and download. Prints the results as JSON.
//
// node walk.ts URL PASSWORD; the service has the demo organization, and schema.d.ts is generated.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

declare const process: { argv: string[] };

type Api = Client<paths>;
type Upload = components["schemas"]["UploadArtifact"];

const SLUG = "demo";
const DEADLINE_MS = 60_000;
const PAUSE_MS = 100;
const [url, password] = process.argv.slice(2) as [string, string];
const text = `Invoice WALK-1\nTotal: 119.00 EUR\nMade at ${new Date().toISOString()}\n`;

function unwrap<T>(result: { data?: T; error?: unknown; response: Response }): T {
  if (result.data === undefined) {
    throw new Error(`${result.response.status} ${JSON.stringify(result.error)}`);
  }
  return result.data;
}

async function poll<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > end) throw new Error(`Not done in time: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function signIn(role: string): Promise<Api> {
  const body = { email: `${role}@demo.example`, password };
  const login = unwrap(await createClient<paths>({ baseUrl: url }).POST("/api/v1/auth/login", { body }));
  const headers = { Authorization: `Bearer ${login.data.access_token}`, "X-Org-Slug": SLUG };
  return createClient<paths>({ baseUrl: url, headers });
}

async function createSchema(admin: Api): Promise<string> {
  const schema = unwrap(
    await admin.POST("/api/v1/schemas", {
      body: {
        name: "Walk",
        document_type: "invoice",
        fields: [
          { key: "number", type: "text", required: true },
          { key: "total", type: "money" },
        ],
      },
    }),
  );
  const path = { schema_id: schema.data.id };
  unwrap(await admin.POST("/api/v1/schemas/{schema_id}/publish", { params: { path }, body: {} }));
  unwrap(await admin.POST("/api/v1/schemas/{schema_id}/activate", { params: { path } }));
  return schema.data.id;
}

async function upload(labeler: Api, schemaId: string): Promise<string> {
  // In the generated types, a file is a string. The serializer builds a form from the properties.
  const file = new Blob([text], { type: "text/plain" }) as unknown as string;
  const body: Upload = { file, name: "walk.txt", schema_id: schemaId };
  const bodySerializer = (properties: object): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(properties)) {
      form.append(name, value instanceof Blob ? value : String(value));
    }
    return form;
  };
  const artifact = unwrap(await labeler.POST("/api/v1/artifacts", { body, bodySerializer }));
  const path = { artifact_id: artifact.data.id };
  await poll(
    async () => unwrap(await labeler.GET("/api/v1/artifacts/{artifact_id}", { params: { path } })).data.status,
    (status) => status === "ready",
  );
  return artifact.data.id;
}

async function label(labeler: Api, artifactId: string): Promise<string> {
  const artifact = { path: { artifact_id: artifactId } };
  unwrap(await labeler.POST("/api/v1/artifacts/{artifact_id}/claim", { params: artifact }));
  const draft = unwrap(
    await labeler.POST("/api/v1/artifacts/{artifact_id}/tag-sets", { params: artifact, body: { from: "empty" } }),
  );
  const params = { path: { tag_set_id: draft.data.id } };
  const start = text.indexOf("WALK-1");
  const tags = [
    { field: "number", value: "WALK-1", evidence: [{ page: 1, start, end: start + 6 }] },
    { field: "total", value: "119.00 EUR" },
  ];
  const body = { tags, revision: draft.data.revision };
  unwrap(await labeler.PUT("/api/v1/tag-sets/{tag_set_id}/tags", { params, body }));
  unwrap(await labeler.POST("/api/v1/tag-sets/{tag_set_id}/submit", { params }));
  return draft.data.id;
}

async function accept(reviewer: Api, tagSetId: string): Promise<string> {
  const params = { path: { tag_set_id: tagSetId } };
  const body = { note: "Well done" };
  return unwrap(await reviewer.POST("/api/v1/tag-sets/{tag_set_id}/accept", { params, body })).data.status;
}

async function exportRows(reviewer: Api, schemaId: string): Promise<string> {
  const body = { format: "jsonl", filter: { schema_id: schemaId } };
  const job = unwrap(await reviewer.POST("/api/v1/exports", { body }));
  const params = { path: { job_id: job.data.id } };
  await poll(
    async () => unwrap(await reviewer.GET("/api/v1/exports/{job_id}", { params })).data.status,
    (status) => status === "completed",
  );
  const file = await reviewer.GET("/api/v1/exports/{job_id}/download", { params, parseAs: "text" });
  return unwrap(file) as string;
}

const [admin, labeler, reviewer] = await Promise.all([signIn("admin"), signIn("labeler"), signIn("reviewer")]);
const schemaId = await createSchema(admin);
const artifactId = await upload(labeler, schemaId);
const status = await accept(reviewer, await label(labeler, artifactId));
const rows = await exportRows(reviewer, schemaId);
const refused = await reviewer.GET("/api/v1/artifacts", { params: { query: { cursor: "forged" } } });
console.log(JSON.stringify({ artifactId, status, rows, refusal: refused.error?.error.code }));
