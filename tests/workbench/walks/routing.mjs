// Routing rules: conditions, simulation and order.

export async function a_rule_is_written_and_tried_out(walk) {
  const owner = await walk.organization();
  await walk.call(owner, 'POST', '/artifacts', { name: 'invoice 7.txt', text: 'Final notice' });
  const page = await walk.page('/routing', { as: owner });
  await page.getByText(/^No rules/).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Urgent invoices');
  await page.getByRole('combobox', { name: 'How it is compared' }).click();
  await page.getByRole('option', { name: 'contains', exact: true }).click();
  await page.getByRole('textbox', { name: 'Value' }).fill('invoice');
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByRole('combobox', { name: 'What is compared' }).nth(1).click();
  await page.getByRole('option', { name: 'Number of pages' }).click();
  await page.getByRole('combobox', { name: 'How it is compared' }).nth(1).click();
  await page.getByRole('option', { name: 'is greater than' }).click();
  await page.getByRole('textbox', { name: 'Value' }).nth(1).fill('5');
  await page.getByRole('textbox', { name: /^Priority/ }).fill('90');
  await page.getByRole('button', { name: /^Take the newest/ }).click();
  await page.getByRole('button', { name: 'Simulate' }).click();
  await page.getByText('No rule matches: it stays in the pool').waitFor();
  await page.locator('summary', { hasText: 'invoice 7.txt' }).click();
  await page.getByText('(it has invoice 7.txt)').waitFor();
  await page.getByText('(it has 1)').waitFor();
  await walk.checkAccessibility(page);
  await page.getByRole('textbox', { name: 'Value' }).nth(1).fill('0');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await page.getByText('Urgent invoices: priority 90').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Urgent invoices' }).waitFor();
  await page.getByText('If Name contains “invoice” and Number of pages is greater than “0”').waitFor();
}

export async function rules_are_moved_with_the_keyboard_and_turned_off(walk) {
  const owner = await walk.organization();
  for (const name of ['First', 'Second', 'Third'])
    await walk.call(owner, 'POST', '/routing-rules', { name, action: { priority: 60 } });
  const page = await walk.page('/routing', { as: owner });
  await page.getByRole('link', { name: 'Third' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  const names = async () => (await walk.call(owner, 'GET', '/routing-rules')).map(({ name }) => name);
  await walk.until(async () => walk.assert.deepEqual(await names(), ['First', 'Third', 'Second']));
  // The focus moves with the rule.
  walk.assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Third');
  await page.getByRole('button', { name: 'Move First down' }).click();
  await walk.until(async () => walk.assert.deepEqual(await names(), ['Third', 'First', 'Second']));
  await page.getByRole('switch', { name: 'Second is on' }).click({ force: true });
  await walk.until(async () => {
    const rules = await walk.call(owner, 'GET', '/routing-rules');
    walk.assert.equal(rules.find(({ name }) => name === 'Second').enabled, false);
  });
}

export async function rules_are_dragged_to_another_place(walk) {
  const owner = await walk.organization();
  for (const name of ['First', 'Second', 'Third'])
    await walk.call(owner, 'POST', '/routing-rules', { name, action: { priority: 60 } });
  const page = await walk.page('/routing', { as: owner });
  const card = (name) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
  const names = async () => (await walk.call(owner, 'GET', '/routing-rules')).map(({ name }) => name);
  // By its name, and by an empty place of the card.
  await page.getByRole('link', { name: 'Third' }).dragTo(card('First'));
  await walk.until(async () => walk.assert.deepEqual(await names(), ['Third', 'First', 'Second']));
  await card('Third').getByText('3.').waitFor({ state: 'detached' });
  await card('Third').dragTo(card('Second'), { sourcePosition: { x: 6, y: 6 } });
  await walk.until(async () => walk.assert.deepEqual(await names(), ['First', 'Second', 'Third']));
  // Another tab moved one in between: the order is read again, and the page says so.
  await walk.until(async () =>
    walk.assert.match(await page.getByRole('list', { name: 'Routing' }).innerText(), /First[^]*Second[^]*Third/),
  );
  const added = await walk.call(owner, 'POST', '/routing-rules', { name: 'Fourth', action: { priority: 60 } });
  await page.getByRole('button', { name: 'Move Third up' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('link', { name: added.name }).waitFor();
  walk.assert.deepEqual(await names(), ['First', 'Second', 'Third', 'Fourth']);
}

export async function an_error_names_its_condition(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/routing/new', { as: owner });
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Broken');
  await page.getByRole('combobox', { name: 'How it is compared' }).click();
  await page.getByRole('option', { name: 'matches the pattern' }).click();
  const value = page.getByRole('textbox', { name: 'Value' });
  await value.fill('(');
  await page.getByRole('textbox', { name: /^Priority/ }).fill('90');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  await walk.until(async () => walk.assert.equal(await value.getAttribute('aria-invalid'), 'true'));
}
