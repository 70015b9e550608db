// Verify the signatures of webhooks with the standard library of Node; copy the functions you need.
//
//     node examples/verify_webhook.js examples/webhook_vectors.json
//
// checks them with test vectors: it prints a line for each and ends with status 1 if one differs.

const crypto = require("node:crypto");
const fs = require("node:fs");

const TOLERANCE_SECONDS = 300;

// Compares two buffers without revealing by the time it takes where they differ.
function isEqual(a, b) {
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

// Verifies `X-Service-Signature`, which covers the body. `body` is a Buffer.
function verifyBody(secret, body, signature) {
  const expected = "sha256=" + crypto.createHmac("sha256", secret).update(body).digest("hex");
  return isEqual(Buffer.from(expected), Buffer.from(signature));
}

// Verifies `webhook-signature`, which covers the id and the time of the attempt, too.
//
// The names in `headers` are in lower case. After a rotation the header has two signatures; one of
// them must be that of `secret`. A request that is more than five minutes old is refused.
function verifyStandard(secret, body, headers, now = Date.now() / 1000) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const hmac = crypto.createHmac("sha256", secret);
  const expected = Buffer.from("v1," + hmac.update(`${id}.${timestamp}.`).update(body).digest("base64"));
  let isValid = false;
  for (const value of (headers["webhook-signature"] ?? "").split(" ")) {
    isValid = isEqual(Buffer.from(value), expected) || isValid;
  }
  return isValid;
}

function main(path) {
  let failures = 0;
  for (const vector of JSON.parse(fs.readFileSync(path, "utf8"))) {
    const body = Buffer.from(vector.body, "utf8");
    const { secret, headers, now, valid } = vector;
    const ok =
      verifyBody(secret, body, headers["x-service-signature"]) === valid.body &&
      verifyStandard(secret, body, headers, now) === valid.standard;
    if (!ok) failures += 1;
    console.log(ok ? "ok" : "DIFFERS", vector.name);
  }
  return failures ? 1 : 0;
}

if (require.main === module) process.exitCode = main(process.argv[2]);

module.exports = { verifyBody, verifyStandard };
