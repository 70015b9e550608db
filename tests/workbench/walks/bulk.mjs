// Folders of files that are dropped, and actions on many documents.

// Makes a drop of these files, given by their paths, on an element. The folders are real entries
// of the browser's file system, as a drop from the desktop has them.
function dropFolder(target, files) {
  const entries = (prefix) => {
    const names = new Set();
    for (const path of Object.keys(files))
      if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split('/')[0]);
    return [...names].map((name) => makeEntry(`${prefix}${name}`));
  };
  const makeEntry = (path) => {
    const common = { fullPath: `/${path}`, name: path.split('/').at(-1) };
    if (path in files) {
      const file = new File([files[path]], common.name, { type: 'text/plain' });
      return { ...common, isFile: true, isDirectory: false, file: (resolve) => resolve(file) };
    }
    const createReader = () => {
      const rest = entries(`${path}/`);
      // As browsers do: the entries in parts, and then none.
      return { readEntries: (resolve) => resolve(rest.splice(0, 1)) };
    };
    return { ...common, isFile: false, isDirectory: true, createReader };
  };
  const items = entries('').map((entry) => ({ kind: 'file', webkitGetAsEntry: () => entry }));
  for (const type of ['dragenter', 'dragover', 'drop']) {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'dataTransfer', { value: { types: ['Files'], items, files: [] } });
    target.dispatchEvent(event);
  }
}

export async function folders_are_dropped_with_their_paths(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/documents', { as: owner });
  const target = page.getByText('No documents yet');
  await target.waitFor();
  await target.evaluate(dropFolder, {
    'leases/2025/a.txt': 'The first lease.',
    'leases/2025/b.txt': 'The second lease.',
    'leases/2026/c.txt': 'The third lease.',
    'leases/.DS_Store': 'hidden',
    'loose.txt': 'A file beside the folder.',
  });
  const dialog = page.getByRole('dialog', { name: 'Upload documents' });
  await dialog.getByText('4 of 4 uploaded').waitFor();
  await dialog.getByRole('link', { name: 'leases/2025/b.txt' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('4 of 4 entries').waitFor();
  await page.getByRole('link', { name: 'c.txt' }).waitFor();
  const all = await walk.call(owner, 'GET', '/artifacts?sort=name');
  const folders = all.map(({ name, metadata }) => [name, metadata.folder]);
  walk.assert.deepEqual(folders, [
    ['a.txt', 'leases/2025'],
    ['b.txt', 'leases/2025'],
    ['c.txt', 'leases/2026'],
    ['loose.txt', undefined],
  ]);
}

async function createDocuments(walk, owner, names) {
  return Promise.all(
    names.map((name) => walk.call(owner, 'POST', '/artifacts', { name, text: `Rent of ${name}` })),
  );
}

export async function many_documents_are_assigned_and_deleted(walk) {
  const owner = await walk.organization();
  const { user } = await walk.member(owner, 'labeler', 'Lena Labeler');
  const [first, second, gone] = await createDocuments(walk, owner, ['a.txt', 'b.txt', 'c.txt']);
  const page = await walk.page('/documents?sort=name', { as: owner });
  await page.getByText('3 of 3 entries').waitFor();
  await page.getByRole('checkbox', { name: 'Select all that are loaded' }).click();
  await walk.call(owner, 'DELETE', `/artifacts/${gone.id}`);
  await page.getByRole('button', { name: 'Assign', exact: true }).click();
  const assign = page.getByRole('dialog', { name: 'Assign 3 documents' });
  await assign.getByRole('combobox', { name: 'Member or team' }).click();
  await page.getByRole('option', { name: 'Lena Labeler' }).click();
  await assign.getByRole('button', { name: 'Assign' }).click();
  const outcome = page.getByRole('dialog', { name: 'Outcome' });
  await outcome.getByText('2 documents changed').waitFor();
  await outcome.getByText('1 document was not changed').waitFor();
  await outcome.getByRole('cell', { name: 'c.txt' }).waitFor();
  await outcome.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /a\.txt/ });
  await row.getByText('Lena Labeler').waitFor();
  for (const { id } of [first, second]) {
    const { assignees } = await walk.call(owner, 'GET', `/artifacts/${id}`);
    walk.assert.deepEqual(assignees.map((one) => one.user_id ?? one.id), [user.id]);
  }
  await page.getByRole('checkbox', { name: 'Select a.txt' }).click();
  await page.getByRole('checkbox', { name: 'Select b.txt' }).click();
  await walk.call(owner, 'DELETE', `/artifacts/${first.id}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const remove = page.getByRole('dialog', { name: 'Delete 2 documents' });
  await walk.checkAccessibility(page);
  await remove.getByRole('button', { name: /^Delete/ }).click();
  await outcome.getByText('1 document changed').waitFor();
  await outcome.getByRole('cell', { name: 'a.txt' }).waitFor();
  await outcome.getByRole('button', { name: 'Done' }).click();
  await page.getByText('No documents yet').waitFor();
}
