// Documents: the list, search, upload, one document, and actions on many.

async function createReady(walk, owner, names, text = (name) => `Rent of ${name}`) {
  const made = [];
  for (const name of names) made.push(await walk.call(owner, 'POST', '/artifacts', { name, text: text(name) }));
  for (const { id } of made) {
    await walk.until(async () => {
      const { status } = await walk.call(owner, 'GET', `/artifacts/${id}`);
      walk.assert.equal(status, 'ready');
    });
  }
  return made;
}

export async function files_are_uploaded_with_a_reason_for_each_that_fails(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/documents', { as: owner });
  await page.getByText('No documents yet').waitFor();
  await page.keyboard.press('u');
  const dialog = page.getByRole('dialog', { name: 'Upload documents' });
  await dialog.waitFor();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    dialog.getByRole('button', { name: 'Choose files' }).click(),
  ]);
  const file = (name, content) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
  await chooser.setFiles([
    file('lease.txt', 'The rent is due.'),
    file('again.txt', 'The rent is due.'),
    file('empty.txt', ''),
  ]);
  await dialog.getByText('1 of 3 uploaded').waitFor();
  await dialog.getByText('2 failed').waitFor();
  await dialog.getByText('The file is empty.').waitFor();
  await dialog.getByText(/has a document with this content already/).waitFor();
  await walk.checkAccessibility(page);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /^(lease|again)\.txt$/ }).waitFor();
  await page.getByText('1 of 1 entry').waitFor();
}

export async function a_search_is_in_the_address_and_its_hits_are_highlighted(walk) {
  const owner = await walk.organization();
  await createReady(walk, owner, ['lease.txt', 'other.txt'], (name) =>
    name === 'lease.txt' ? 'Tenants pay <b>rent</b>.' : 'Nothing of it.',
  );
  const page = await walk.page('/documents', { as: owner });
  await page.getByText('2 of 2 entries').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('tenants rent');
  await page.getByText('1 of 1 entry').waitFor();
  await page.waitForURL(/q=tenants/);
  await page.locator('mark', { hasText: 'rent' }).waitFor();
  await page.reload();
  await page.getByText('1 of 1 entry').waitFor();
  await page.getByRole('link', { name: 'lease.txt' }).click();
  await page.getByRole('tab', { name: 'Text' }).click();
  await page.locator('pre mark', { hasText: 'rent' }).waitFor();
  // Markup in a document is text.
  walk.assert.equal(await page.locator('pre b').count(), 0);
}

export async function many_documents_change_with_an_outcome_for_each(walk) {
  const owner = await walk.organization();
  const [first] = await createReady(walk, owner, ['a.txt', 'b.txt', 'c.txt']);
  const page = await walk.page('/documents?sort=name', { as: owner });
  // Somebody else deletes one that is shown here.
  await page.getByRole('checkbox', { name: 'Select a.txt' }).click();
  await page.getByRole('checkbox', { name: 'Select c.txt' }).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await walk.call(owner, 'DELETE', `/artifacts/${first.id}`);
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Outcome' });
  await dialog.getByText('2 documents changed').waitFor();
  await dialog.getByText('1 document was not changed').waitFor();
  await dialog.getByRole('cell', { name: 'a.txt' }).waitFor();
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('No documents yet').waitFor();
}

export async function a_document_is_edited_assigned_and_its_history_says_so(walk) {
  const owner = await walk.organization();
  const [made] = await createReady(walk, owner, ['old.txt']);
  const page = await walk.page(`/documents/${made.id}`, { as: owner });
  await page.getByRole('img', { name: 'Page 1' }).waitFor();
  await page.keyboard.press('e');
  const edit = page.getByRole('dialog', { name: 'Edit the document' });
  await edit.getByRole('textbox', { name: 'Name' }).first().fill('new.txt');
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'new.txt', level: 1 }).waitFor();
  await page.keyboard.press('a');
  const assign = page.getByRole('dialog', { name: 'Assign the document' });
  await assign.getByRole('combobox', { name: 'Members' }).click();
  await page.getByRole('option', { name: 'Olga Owner' }).click();
  await assign.getByRole('button', { name: 'Assign' }).click();
  await assign.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('Name: from old.txt to new.txt').waitFor();
  await walk.checkAccessibility(page);
}

export async function a_viewer_sees_no_actions(walk) {
  const page = await walk.page('/documents', { as: 'viewer' });
  await page.getByRole('table', { name: 'Documents' }).waitFor();
  walk.assert.equal(await page.getByRole('button', { name: 'Upload' }).count(), 0);
  walk.assert.equal(await page.getByRole('checkbox', { name: /^Select/ }).count(), 0);
  await page.getByRole('link', { name: 'Master Services Agreement.pdf' }).click();
  await page.getByRole('img', { name: 'Page 1' }).waitFor();
  for (const name of ['Label', 'Assign', 'Edit'])
    walk.assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0);
}

export async function a_pause_after_a_space_does_not_join_the_words_of_a_search(walk) {
  const owner = await walk.organization();
  for (const path of ['/documents', '/members']) {
    const page = await walk.page(path, { as: owner });
    const search = page.getByRole('searchbox').first();
    await search.pressSequentially('two ');
    await page.waitForURL(/q=two/);
    await search.pressSequentially('words');
    await page.waitForURL(/q=two(\+|%20)words/);
    walk.assert.equal(await search.inputValue(), 'two words');
  }
}

export async function what_is_no_time_or_no_number_is_refused_in_the_form(walk) {
  const owner = await walk.organization();
  const [{ id }] = await createReady(walk, owner, ['lease.txt']);
  const page = await walk.page(`/documents/${id}`, { as: owner });
  // Browsers take years of six digits.
  const year = '20260-01-01T10:00';
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Assign', exact: true }).click();
  await dialog.getByLabel('Due').fill(year);
  await dialog.getByRole('button', { name: 'Return to the pool' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Priority').fill('');
  await dialog.getByLabel('Due').fill(year);
  const save = dialog.getByRole('button', { name: 'Save' });
  await save.click();
  walk.assert.equal(await dialog.getByLabel('Priority').evaluate((input) => input.validity.valueMissing), true);
  await dialog.getByLabel('Priority').fill('70');
  await save.click();
  await walk.until(async () => walk.assert.equal(await dialog.getByLabel('Due').getAttribute('aria-invalid'), 'true'));
  const { priority, due_at } = await walk.call(owner, 'GET', `/artifacts/${id}`);
  walk.assert.deepEqual([priority, due_at], [50, null]);
}
