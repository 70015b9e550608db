// Runs walks through the workbench: functions of tests/workbench/walks/*.mjs.
//
// Arguments: the address of the service, the password of its demo users, the folder of its emails,
// and a folder for pictures of failures. Standard input: one JSON object per line,
// {file, name, given}; standard output: one line {answer} or {error} for each. A walk is called with
// a Walk (walk.mjs) and `given`. The browser ends with its standard input.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { launch } from './launch.mjs';
import { Walk } from './walk.mjs';

const [base, password, mail, pictures] = process.argv.slice(2);
const browser = await launch();

async function run({ file, name, given }) {
  const walk = new Walk({ browser, base, password, mail });
  try {
    const { [name]: steps } = await import(pathToFileURL(file));
    const answer = await steps(walk, given ?? {});
    walk.assertNothingBlocked();
    return { answer: answer ?? null };
  } catch (error) {
    const shown = await walk.describe(pictures, name);
    return { error: `${error.stack ?? error}\n${shown}` };
  } finally {
    await walk.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
}
await browser.close();
