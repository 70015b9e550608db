/** Choosing among several tag sets, place by place. */
import { fromServer, type LocalTag, stableJson } from '@/workflow/labeling';
import type { Schemas } from '@/kit/api/types';

type Consensus = Schemas['Consensus'];
type ConsensusField = Schemas['ConsensusField'];

export interface Option {
  /** The tag sets that have these values; a choice names the first. */
  readonly setIds: readonly string[];
  readonly values: readonly Schemas['ConsensusValue'][];
}

export interface Place {
  readonly key: string;
  readonly field: string;
  readonly row: number | null;
  readonly options: readonly Option[];
  /** More than half agree: no choice is needed. */
  readonly majority: number | undefined;
}

function listOptions(field: ConsensusField, setIds: readonly string[]): Option[] {
  const options = new Map<string, { setIds: string[]; values: Schemas['ConsensusValue'][] }>();
  for (const id of setIds) {
    const values = field.values.filter((one) => one.tag_set_ids.includes(id));
    const key = stableJson(
      values.map(({ value, evidence }) => [value, value === null ? evidence : null]),
    );
    const option = options.get(key);
    if (option) option.setIds.push(id);
    else options.set(key, { setIds: [id], values });
  }
  return [...options.values()];
}

/** The places of the consensus with what each tag set has there. */
export function listPlaces(consensus: Consensus, setIds: readonly string[]): Place[] {
  return consensus.fields.map((field) => {
    const options = listOptions(field, setIds);
    const best = options.findIndex((option) => option.setIds.length > setIds.length / 2);
    return {
      key: `${field.field}#${field.row ?? ''}`,
      field: field.field,
      row: field.row,
      options,
      majority: best < 0 ? undefined : best,
    };
  });
}

export type Choices = ReadonlyMap<string, number>;

/** The option that counts at a place: the chosen one, else the majority's. */
export function chosenOption(place: Place, choices: Choices): Option | undefined {
  const at = choices.get(place.key) ?? place.majority;
  return at === undefined ? undefined : place.options[at];
}

export function listUndecided(places: readonly Place[], choices: Choices): Place[] {
  return places.filter((place) => chosenOption(place, choices) === undefined);
}

/** The choices as the API takes them: only those that the majority does not make by itself. */
export function toRequest(places: readonly Place[], choices: Choices): Schemas['MergeChoice'][] {
  return places.flatMap((place) => {
    const at = choices.get(place.key);
    const id = at === undefined ? undefined : place.options[at]?.setIds[0];
    if (id === undefined || at === place.majority) return [];
    return [{ field: place.field, row: place.row, tag_set_id: id }];
  });
}

/** The merged tags as they are now, to show them. */
export function preview(places: readonly Place[], choices: Choices): LocalTag[] {
  const tags = places.flatMap((place) =>
    (chosenOption(place, choices)?.values ?? []).map(({ value, evidence }) => ({
      field: place.field,
      row: place.row,
      value,
      evidence,
      confidence: null,
      source: 'human' as const,
    })),
  );
  return fromServer(tags);
}
