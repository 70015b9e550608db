// Run Azurite in memory, on a free port of loopback, until the standard input ends.
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
process.argv.push(
  ...["--blobHost", "127.0.0.1", "--blobPort", "0"],
  ...["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"],
);
require("azurite/dist/src/blob/main.js");
