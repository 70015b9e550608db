// Run walks through the workbench. A walk is an exported function, as in tests/workbench/walks.
//
// The arguments are the URL of the service, the password of its demo users, the folder of its
// emails, and a folder for screenshots of failures. Each line of standard input is a JSON object
// {file, name, options}, and gets a line {answer} or {error} on standard output. The walk is called
// with a Walk (walk.mjs) and `options`. The browser is closed when standard input ends.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { launch } from './launch.mjs';
import { Walk } from './walk.mjs';

const [base, password, mail, pictures] = process.argv.slice(2);
const browser = await launch();

async function run({ file, name, options }) {
  const walk = new Walk({ browser, base, password, mail });
  try {
    const { [name]: steps } = await import(pathToFileURL(file));
    const answer = await steps(walk, options ?? {});
    walk.assertNothingBlocked();
    return { answer: answer ?? null };
  } catch (error) {
    const description = await walk.describe(pictures, name);
    return { error: `${error.stack ?? error}\n${description}` };
  } finally {
    await walk.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
}
await browser.close();
