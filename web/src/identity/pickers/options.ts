export interface Option {
  value: string;
  label: string;
}

/** Adds the chosen option if the page of the list that was read does not have it. */
export function withChosen(options: readonly Option[], chosen: Option | undefined): Option[] {
  if (chosen === undefined || options.some(({ value }) => value === chosen.value))
    return [...options];
  return [chosen, ...options];
}

/** Returns members to choose from by name; those with the same name also by their address. */
export function toPeopleOptions(
  members: readonly { user: { id: string; name: string; email: string } }[],
): Option[] {
  const counts = new Map<string, number>();
  for (const { user } of members) counts.set(user.name, (counts.get(user.name) ?? 0) + 1);
  return members.map(({ user: { id, name, email } }) => ({
    value: id,
    label: counts.get(name) === 1 ? name : `${name} · ${email}`,
  }));
}
