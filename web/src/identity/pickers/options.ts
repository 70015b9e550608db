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
