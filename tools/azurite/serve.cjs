// Run Azurite in memory, on a free port of 127.0.0.1, until standard input ends.
const errors = require("azurite/dist/src/blob/errors/StorageErrorFactory.js").default;

// Microsoft's service returns this error if a signature is wrong or has expired:
// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
errors.getAuthorizationFailure = (id) => errors.getAuthenticationFailed(id, "Signature refused.");
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
process.argv.push(
  ...["--blobHost", "127.0.0.1", "--blobPort", "0"],
  ...["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"],
);
require("azurite/dist/src/blob/main.js");
