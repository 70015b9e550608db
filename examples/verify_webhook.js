// Verify the signatures of webhooks with the standard library of Node; copy the functions you need.
//
//     node examples/verify_webhook.js examples/webhook_vectors.json
//
// This command checks the functions with test vectors. It prints a line for each vector, and exits
// with status 1 if a result differs from the vector.

const crypto = require("node:crypto");
const fs = require("node:fs");

const TOLERANCE_SECONDS = 300;

// Returns whether two buffers are equal. The time does not reveal where they differ.
function isEqual(a, b) {
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

// Returns whether `signature`, the value of `X-Service-Signature`, is valid for the Buffer `body`.
function verifyBody(secret, body, signature) {
  const expected = "sha256=" + crypto.createHmac("sha256", secret).update(body).digest("hex");
  return isEqual(Buffer.from(expected), Buffer.from(signature));
}

// Returns whether `webhook-signature` is valid for the body and the other `webhook-` headers.
//
// The names in `headers` are in lower case. After a rotation of the secret, the header has two
// signatures, and one of them must be valid for `secret`. The signature is invalid if the timestamp
// is more than five minutes before or after `now` (Unix time, by default the clock).
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
