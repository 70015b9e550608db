import { useTranslation } from 'react-i18next';
import type { Field } from './schema';

type Known = 'titles.host';

/** Titles and descriptions in the language of the page; what is not known is as the schema says. */
export function useFieldTexts() {
  const { t, i18n } = useTranslation('kit/forms');
  const find = (group: string, field: Field, context: string): string | undefined => {
    for (const key of [`${group}.${context}_${field.name}`, `${group}.${field.name}`]) {
      const isKnown: boolean = i18n.exists(key, { ns: 'kit/forms' });
      if (isKnown) return t(key as Known);
    }
    return undefined;
  };
  return {
    title: (field: Field, context: string) =>
      find('titles', field, context) ?? field.title ?? field.name,
    description: (field: Field, context: string) =>
      find('descriptions', field, context) ?? field.description,
  };
}
