import { Text } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Field, summarize } from '@/workflow/labeling';
import { type Choices, chosenOption, type Place } from './merging';
import classes from './review.module.css';

interface Props {
  place: Place;
  field: Field;
  nameOf: (id: string) => string;
  choices: Choices;
  choose: (key: string, option: number) => void;
}

/** What each tag set has at a place; one of these values is chosen. */
export function PlaceChoice({ place, field, nameOf, choices, choose }: Props) {
  const { t } = useTranslation('workflow/review');
  const name = useId();
  const column = field.columns.find(({ key }) => `${field.key}.${key}` === place.field);
  const definition = (column ?? field) as Field;
  const inTable =
    column && place.row !== null
      ? t('place', { row: place.row + 1, column: column.label })
      : undefined;
  const chosen = chosenOption(place, choices);
  return (
    <div
      role="radiogroup"
      aria-label={inTable ?? field.label}
      data-undecided={chosen === undefined || undefined}
    >
      {inTable !== undefined && (
        <Text size="xs" fw={600} mt={4}>
          {inTable}
        </Text>
      )}
      <div className={classes.options}>
        {place.options.map((option, at) => (
          <label key={option.setIds.join()} className={classes.option}>
            <input
              type="radio"
              name={name}
              checked={option === chosen}
              onChange={() => choose(place.key, at)}
            />
            <span className={classes.value}>
              <bdi>
                {option.values.map((one) => summarize(one, definition)).join(' · ') || t('empty')}
              </bdi>
            </span>
            <Text span size="xs" c="dimmed">
              {option.setIds.map(nameOf).join(', ')}
            </Text>
          </label>
        ))}
      </div>
      {!chosen && (
        <Text size="xs" c="var(--mantine-color-error)" mt={2}>
          {t('merge.undecided')}
        </Text>
      )}
    </div>
  );
}
